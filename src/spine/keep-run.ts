// Keeping a run from its start to its end: its agent beats, what happens is watched, and at the end everything is released and closed.
import { type Clock, pause } from '../clock.ts'
import { RUN_ORPHAN_GRACE_MS } from '../limits.ts'
import type { Env } from '../paths.ts'
import { type ExitRecord, keepSession } from '../sessions/keeper.ts'
import { Heartbeat } from './heartbeat.ts'
import { KeptAgent } from './kept-agent.ts'
import { readSheet } from './kept-run.ts'
import { KeptSheet } from './kept-sheet.ts'
import { recordEnd, statusOf } from './run-end.ts'
import { treeGone } from './run-tree.ts'
import { type RunWatch, watchRun } from './run-watch.ts'
import type { WatchedProjects } from './watched-project.ts'

export interface KeepWith {
  readonly env: Env
  readonly clock: Clock
  /** For the record of what was ended: processes that a killed supervisor has left. */
  readonly by: string
  readonly note: (line: string) => void
  readonly projects: WatchedProjects
  /** Nothing is watched any more from here on; the run goes on. */
  readonly signal: AbortSignal
}

/** `open`: something of the end could not be done, and is tried again. */
export type Kept = 'closed' | 'open' | 'stopped'

/** Resolves when the run is over, or the signal aborts. */
export async function keepRun(path: string, how: KeepWith): Promise<Kept> {
  const run = readSheet(path)
  return run === undefined ? 'closed' : await keep(new KeptSheet(path, run, how.note), how)
}

async function keep(sheet: KeptSheet, how: KeepWith): Promise<Kept> {
  const { env, clock, note, signal } = how
  const agent = new KeptAgent(() => sheet.run, how)
  const watch = await watchRun(sheet, { env, clock, note, child: () => agent.child })
  const heart = new Heartbeat({
    clock,
    beat: () => agent.beat(),
    isWaiting: () => watch?.isWaiting === true,
    calls: () => watch?.calls ?? 0,
  })
  try {
    agent.bind()
    const exit = await sessionEnd(sheet, heart, watch, how)
    if (signal.aborted) return 'stopped'
    watch?.sessionEnded()
    await heart.stop()
    return await close({ sheet, agent, watch }, exit, how)
  } finally {
    watch?.close()
    await heart.stop()
    await agent.close()
    watch?.record.release()
  }
}

/** Nothing where no record of its end is left. */
async function sessionEnd(
  sheet: KeptSheet,
  heart: Heartbeat,
  watch: RunWatch | undefined,
  { clock, by, signal }: KeepWith,
): Promise<ExitRecord | undefined> {
  const { dir, id, supervisor } = sheet.run.session
  let ending: ExitRecord | undefined
  await keepSession(
    { dir, id, supervisorPid: supervisor.pid, endsOrphansAs: by, orphanGraceMs: RUN_ORPHAN_GRACE_MS },
    {
      onActivity() {
        watch?.happened()
        heart.happened()
      },
      onState(state) {
        const { session } = sheet.run
        if (state.id !== undefined && state.id !== session.id) sheet.put({ session: { ...session, id: state.id } })
        watch?.state(state)
      },
      onEnd(record) {
        ending = record
      },
    },
    clock,
    signal,
  )
  return ending
}

interface Closing {
  readonly sheet: KeptSheet
  readonly agent: KeptAgent
  readonly watch: RunWatch | undefined
}

/** Each step may be done twice. The state file goes last: while it is there, what is left is done by the next watcher. */
async function close(
  { sheet, agent, watch }: Closing,
  exit: ExitRecord | undefined,
  { env, clock }: KeepWith,
): Promise<Kept> {
  await treeGone(sheet.run, clock)
  watch?.settle(exit)
  if (watch !== undefined) await recordEnd(sheet.run, exit, watch.record, env)
  const status = statusOf(exit, watch?.isTerminated === true)
  const isReleased = await agent.release({ status, exit_code: exit?.exit_code ?? null })
  const isClosed = watch === undefined || (await watch.record.close(status))
  if (!isReleased || !isClosed) return 'open'
  sheet.remove()
  // Commands that wait for the end of the run have it by now; the files for people may take their time.
  await agent.publish()
  await pause(clock, 0)
  return 'closed'
}
