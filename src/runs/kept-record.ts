// The record of a run with an owner, as whoever keeps the run writes to it until it is closed.
import { join } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { EventText } from '../events/event-text.ts'
import { createRedact } from '../events/redact.ts'
import type { FilesChanged, ModelUsage, RunStatus, SessionEnd, WaitEnd, WaitStart } from '../events/types.ts'
import { RUN_MEMBERS_LEAVE_MS } from '../limits.ts'
import { EventWriter } from './event-writer.ts'
import { joiningOf, type OwnedRun } from './owned-run.ts'
import { rejoinRun } from './record.ts'
import { closeAbandoned } from './run-close.ts'
import { totalsOf } from './run-facts.ts'

/** What is said in the record by whoever keeps the run. Texts that came from programs are redacted as everywhere in it. */
export interface KeptRecord {
  waitStart(wait: WaitStart): void
  waitEnd(wait: WaitEnd): void
  filesChanged(changes: FilesChanged): void
  sessionEnd(end: SessionEnd): void
  modelUsage(usage: ModelUsage): void
  /** Takes leave and sees the run closed, by this or by a shim that outlives the session for a moment. False when some still takes part. */
  close(status: RunStatus): Promise<boolean>
  /** Leaves the record as it is, open or closed, for another process to go on with. */
  release(): void
}

/** Nothing where the run has its end already. `note` is told what could not be written. */
export async function keepOwnedRun(
  run: OwnedRun,
  clock: Clock,
  note: (line: string) => void,
): Promise<KeptRecord | undefined> {
  const { runsDir, folder, identity } = run
  const record = await rejoinRun(joiningOf(run, clock))
  if (record === undefined) return undefined
  const text = new EventText(identity, () => clock.wallMs())
  const redact = createRedact()
  let isClosed = false
  const events = new EventWriter({
    record,
    lines: text.lines,
    clock,
    onTrouble: (error, lost) =>
      note(
        error === null ? `events are written again; ${lost} were lost` : `events cannot be written: ${error.message}`,
      ),
  })
  const say = (put: () => void): void => {
    if (events.room('other', 1) === 'none') return
    put()
    events.added()
  }
  const shown = <W extends WaitStart>(wait: W): W => ({
    ...wait,
    evidence: wait.evidence === null ? null : redact(wait.evidence),
  })
  return {
    waitStart: (wait) => say(() => text.waitStart(shown(wait))),
    waitEnd: (wait) => say(() => text.waitEnd({ ...shown(wait), answer: redact(wait.answer) })),
    filesChanged: (changes) => say(() => text.filesChanged({ ...changes, files: changes.files.map(redact) })),
    sessionEnd: (end) => say(() => text.sessionEnd(end)),
    modelUsage: (usage) => say(() => text.modelUsage(usage)),
    async close(status) {
      if (!isClosed) await events.close(status)
      isClosed = true
      const deadlineMs = clock.monoMs() + RUN_MEMBERS_LEAVE_MS
      for (;;) {
        if (totalsOf(join(runsDir, folder)).hasEnded || closeAbandoned(runsDir, folder, clock)) return true
        if (clock.monoMs() >= deadlineMs) return false
        await pause(clock, 50)
      }
    },
    release() {
      if (isClosed) return
      isClosed = true
      events.flush()
      record.close()
    },
  }
}
