// heimdall dispatch serve: orchestrate until it is stopped.
import { openCoordination } from '../../../coordination/coordination.ts'
import { checkHost } from '../../../dispatch/a2a/start-orchestrator.ts'
import { pause } from '../../../clock.ts'
import { membershipIn } from '../../../coordination/membership.ts'
import { HeimdallError } from '../../../errors.ts'
import { ORCHESTRATOR_LOOK_MS } from '../../../limits.ts'
import type { Run } from '../../command.ts'
import type { dispatchServe } from '../../table/dispatch.ts'
import { changingOptions } from '../../coordination-door.ts'
import { untilSignal } from '../../until-signal.ts'
import { orchestrate } from './orchestrate.ts'

export const run: Run<typeof dispatchServe> = async (context, { flags }) => {
  const host = checkHost(flags.host, flags.open === true)
  const room = openCoordination(await changingOptions(context))
  const { told, over } = untilSignal()
  try {
    const start = () => orchestrate(context, room, { host, port: flags.port })
    let running = await start()
    if (running === undefined && membershipIn(room.store) === undefined)
      throw new HeimdallError('WORKER_RUNNING', 'another process orchestrates this repository already')
    if (running === undefined) context.note('another machine orchestrates; this one takes over when that goes silent')
    const stop = new AbortController()
    const isOver = (): boolean => stop.signal.aborted
    void told.then(() => stop.abort())
    while (running === undefined && !isOver()) {
      await pause(context.clock, ORCHESTRATOR_LOOK_MS, stop.signal)
      if (!isOver()) running = await start()
    }
    if (running === undefined) return { data: { url: null }, text: '' }
    context.note(`orchestrates ${room.project.root}; workers announce themselves to ${running.url ?? ''}`)
    await Promise.race([told, running.done])
    await running.stop()
    return { data: { url: running.url ?? null }, text: '' }
  } finally {
    over()
    room.store.close()
  }
}
