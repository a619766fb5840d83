// The events that a command is asked to look at: of a run of this user, or of a file.
import { HeimdallError } from '../../../errors.ts'
import { eventsOfFile, eventsOfRecord, type SetAside } from '../../../runs/event-source.ts'
import { knownRun } from '../../../runs/known-run.ts'
import type { TypedEvent } from '../../../runs/run-books.ts'
import { runsDirOf } from '../../../paths.ts'
import type { Context } from '../../command.ts'

export function recordedEvents(
  context: Context,
  { run: id, events: file }: { readonly run: string | undefined; readonly events: string | undefined },
  aside: SetAside,
): Iterable<TypedEvent> | AsyncIterable<TypedEvent> {
  if (file !== undefined && id === undefined) return eventsOfFile(context.resolve(file), file, aside)
  if (id === undefined || file !== undefined)
    throw new HeimdallError('USAGE', 'say which --run, or which file of --events', {
      hint: 'heimdall runs list shows the runs that are there',
    })
  return eventsOfRecord(knownRun(runsDirOf(context.env), id).runDir, aside)
}
