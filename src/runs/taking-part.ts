// One process's part in a run, from joining to leaving: what it writes, whom it can ask, and the word that the run is over.
import type { EventText } from '../events/event-text.ts'
import { join } from 'node:path'
import type { RunStart, RunStatus } from '../events/types.ts'
import { createIdSource } from '../id-source.ts'
import { runsDirOf } from '../paths.ts'
import { writeAskedCall } from './asked-calls.ts'
import type { Decision } from '../policy/types.ts'
import { EventWriter, type EventWriterOptions } from './event-writer.ts'
import { folderOf, openRun, type OpenRun, type RunRequest, type SharedRun } from './open-run.ts'
import { soloDir } from './questions.ts'
import { recordPath } from './run-log.ts'
import { followWakeups, type RunWakeup } from './run-wakeup.ts'
import { SoloQuestions } from './solo-questions.ts'

export interface PartRequest extends Omit<RunRequest, 'newId' | 'start'> {
  /** It begins now, by the clock. */
  readonly start: Omit<RunStart, 'started_at'>
  readonly onTrouble: EventWriterOptions['onTrouble']
}

export interface RunPart {
  readonly runId: string
  readonly text: EventText
  readonly events: EventWriter
  /** What the members of the run share; null for one alone. */
  readonly shared: SharedRun | null
  /** Where this part's events are to be found. */
  readonly recordPlace: string
  /** Where the questions of a shim alone are recorded; null where they are in the record of the run. */
  readonly soloQuestions: SoloQuestions | null
  /** Stores the whole text of a call that a question shows cut. */
  readonly keepWhole: (id: string, text: string) => void
  /** An event that is not about a call. */
  readonly say: (put: (text: EventText) => void) => void
  /** The run was ended by policy, as the record says: has the other shims read it. */
  readonly wakeOthers: () => void
  /** Calls `act` when another shim has ended the run, also when that was before this part began. */
  readonly onTerminated: (act: (why: Decision) => void) => void
  readonly leave: (status: RunStatus) => Promise<void>
}

export async function takePart(request: PartRequest): Promise<RunPart> {
  const { clock, note } = request
  const run = await openRun({
    ...request,
    newId: createIdSource(clock),
    start: { started_at: new Date(clock.wallMs()).toISOString(), ...request.start },
  })
  const { runId, text, shared } = run
  const copy = run.copy === null ? {} : { copy: run.copy }
  const events = new EventWriter({
    record: run.record,
    lines: text.lines,
    clock,
    ...copy,
    onTrouble: request.onTrouble,
  })
  const soloFolder = join(soloDir(runsDirOf(request.env)), folderOf(runId))
  const soloQuestions = shared === null ? new SoloQuestions(soloFolder, request.identity.source.shim_id) : null
  let wakeup: RunWakeup | null = null
  return {
    runId,
    text,
    events,
    shared,
    recordPlace: placeOf(request, run),
    soloQuestions,
    keepWhole: (id, whole) => writeAskedCall(shared?.runDir ?? soloFolder, id, whole),
    say(put) {
      if (events.room('other', 1) === 'none') return
      put(text)
      events.added()
    },
    wakeOthers: () => wakeup?.wake(),
    onTerminated(act) {
      const look = (): void => {
        events.refresh()
        if (events.fold.terminated !== null) act(events.fold.terminated)
      }
      shared?.whenJoined(() => {
        wakeup = followWakeups(shared.runDir, look, note)
        // Not now: the run is being joined at this moment.
        queueMicrotask(look)
      })
    },
    async leave(status) {
      wakeup?.close()
      soloQuestions?.close()
      await events.close(status)
    },
  }
}

function placeOf({ events }: PartRequest, { shared }: OpenRun): string {
  if (shared !== null) return recordPath(shared.runDir)
  return events !== null && 'path' in events ? events.path : 'stderr'
}
