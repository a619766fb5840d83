// heimdall top: the fleet live in a plain terminal, and waits answered from there.
import { lookAtFleet } from '../../../spine/fleet/look.ts'
import type { Run } from '../../command.ts'
import { fleetOptions } from '../../fleet-options.ts'
import type { Look } from '../../render/fleet-text.ts'
import { showsGlyphs } from '../../render/glyphs.ts'
import type { top } from '../../table/spine.ts'
import { boardLines, SORTS } from './board.ts'

/** Where nobody says how wide it is. */
const COLS_UNTOLD = 160

/** Nobody is there to press a key. */
const PLAIN = {
  rows: undefined,
  selected: undefined,
  filter: '',
  isFiltering: false,
  sort: SORTS[0],
  isHelping: false,
  said: '',
} as const

export const run: Run<typeof top> = async (context, { flags }) => {
  const options = await fleetOptions(context, flags, true)
  const { stdin, stdout, env, json } = context
  const isTerminal = stdin.isTTY && stdout.isTTY && env['TERM'] !== 'dumb'
  const look: Look = { style: context.style, hasGlyphs: showsGlyphs(env) }
  if (flags.once === true || json || !isTerminal) {
    const fleet = await lookAtFleet(options)
    const cols = context.style.isTty && context.style.columns > 0 ? context.style.columns : COLS_UNTOLD
    const view = { ...PLAIN, look, cols }
    return { data: fleet, text: json ? '' : boardLines(fleet, view).join('\n') }
  }
  const [{ TopScreen }, { sessionAround }] = await Promise.all([import('./screen.ts'), import('../session/locate.ts')])
  const around = await sessionAround(context, options.socketDir)
  await new TopScreen({ context, options, look, around }).show()
  return { data: null, text: '', streamed: true }
}
