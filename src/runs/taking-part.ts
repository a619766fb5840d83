// One process's part in a run, from joining to leaving: what it writes, whom it can ask, and the word that the run is over.
import type { EventText } from '../events/event-text.ts'
import type { RunStart, RunStatus } from '../events/types.ts'
import { createIdSource } from '../id-source.ts'
import { runsDirOf } from '../paths.ts'
import type { Approvals } from './approvals.ts'
import { writeAskedCall } from './asked-calls.ts'
import { EventWriter, type EventWriterOptions } from './event-writer.ts'
import { folderOf, openRun, type OpenRun, type RunRequest, type SharedRun } from './open-run.ts'
import { runApprovals } from './open-questions.ts'
import { recordPath } from './run-log.ts'
import { followOrders, type RunOrders } from './run-orders.ts'

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
  /** What persons are asked and have answered; opened with the first question. */
  readonly approvals: () => Approvals
  /** Stores the whole text of a call that a question shows cut. */
  readonly keepWhole: (id: string, text: string) => void
  /** An event that is not about a call. */
  readonly say: (put: (text: EventText) => void) => void
  /** Ends the run for all who take part in it. */
  readonly terminate: (why: object) => void
  /** Somebody else has ended it, perhaps before this part began. */
  readonly onTerminated: (act: (why: object) => void) => void
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
  const approvals = runApprovals(shared?.runDir ?? null, {
    runsDir: runsDirOf(request.env),
    folder: folderOf(runId),
    shimId: request.identity.source.shim_id,
  })
  let orders: RunOrders | null = null
  return {
    runId,
    text,
    events,
    shared,
    recordPlace: placeOf(request, run),
    approvals: () => approvals.opened(),
    keepWhole: (id, whole) => writeAskedCall(approvals.folder, id, whole),
    say(put) {
      if (events.room('other', 1) === 'none') return
      put(text)
      events.added()
    },
    terminate: (why) => orders?.terminate(why),
    onTerminated(act) {
      shared?.whenJoined(() => {
        orders = followOrders(shared.runDir, act, note)
      })
    },
    async leave(status) {
      orders?.close()
      approvals.close()
      await events.close(status)
    },
  }
}

function placeOf({ events }: PartRequest, { shared }: OpenRun): string {
  if (shared !== null) return recordPath(shared.runDir)
  return events !== null && 'path' in events ? events.path : 'stderr'
}
