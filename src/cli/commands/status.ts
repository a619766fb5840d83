// heimdall status: who waits for you, who works, who is stuck, what collides, what it cost.
import type { Fleet } from '../../spine/fleet/fleet.ts'
import { type FleetOptions, lookAtFleet } from '../../spine/fleet/look.ts'
import type { Answer, Context, InputOf, Run } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import type { status } from '../table/spine.ts'

type Flags = InputOf<typeof status>['flags']

export const run: Run<typeof status> = async (context, { flags }) => {
  const options = await fleetOptions(context, flags)
  if (flags.follow === true) return await follow(context, flags, options)
  return await answer(context, flags, await lookAtFleet(options))
}

async function answer(context: Context, flags: Flags, fleet: Fleet): Promise<Answer> {
  if (flags.quiet === true) return { data: { waiting: fleet.counts.waiting }, text: String(fleet.counts.waiting) }
  if (context.json) return { data: fleet, text: '' }
  const { fleetColumns, fleetText } = await import('../render/fleet-text.ts')
  if (flags.plain === true || !context.style.isTty) return { data: fleet, text: fleetColumns(fleet) }
  const { showsGlyphs } = await import('../render/glyphs.ts')
  return { data: fleet, text: fleetText(fleet, { style: context.style, hasGlyphs: showsGlyphs(context.env) }) }
}

/** One after the other until whoever reads goes away: with --json a line each, else as a look prints it. */
async function follow(context: Context, flags: Flags, options: FleetOptions): Promise<Answer> {
  const [{ followFleet }, { TextOut }, { noticeReaderGone }] = await Promise.all([
    import('../../spine/fleet/follow.ts'),
    import('./session/text-out.ts'),
    import('../output-reader.ts'),
  ])
  const out = new TextOut(context.stdout)
  const over = new AbortController()
  const print = async (): Promise<void> => {
    for await (const fleet of followFleet(options, over.signal)) {
      const { data, text } = await answer(context, flags, fleet)
      const isTaken = context.json
        ? await out.writeLine(data)
        : await out.write(`${text}\n${flags.quiet === true ? '' : '\n'}`)
      if (!isTaken) over.abort()
    }
  }
  // First: a reader that wants one look is gone once it is printed.
  const noticed = noticeReaderGone(context.clock, over.signal, () => over.abort())
  await Promise.all([print().finally(() => over.abort()), noticed])
  return { data: null, text: '', streamed: true }
}
