// Recorded calls decided again by another policy: nothing is sent anywhere, and nothing changes.
import { REPLAY_ROWS_MAX } from '../limits.ts'
import { RunReplay } from '../policy/replay/replay.ts'
import { ReplayTally } from '../policy/replay/tally.ts'
import type { Snapshot } from '../policy/types.ts'
import type { SetAside } from '../runs/event-source.ts'
import type { TypedEvent } from '../runs/recorded-event.ts'
import { RecordedCalls } from '../runs/recorded-calls.ts'

interface Replayed {
  readonly tally: ReplayTally
  /** Of how many runs. */
  readonly runs: number
  /** Calls without a decision in the record. */
  readonly undecided: number
}

/** `aside` counts what cannot be read. */
export async function replayEvents(
  events: Iterable<TypedEvent> | AsyncIterable<TypedEvent>,
  snapshot: Snapshot,
  known: ConstructorParameters<typeof RunReplay>[1],
  shown: 'all' | 'different',
  aside: SetAside,
): Promise<Replayed> {
  const calls = new RecordedCalls()
  const replays = new Map<string, RunReplay>()
  const tally = new ReplayTally(shown, REPLAY_ROWS_MAX)
  for await (const event of events) {
    const read = calls.read(event)
    if (read === 'malformed') aside.unreadable += 1
    if (read === null || read === 'malformed') continue
    let replay = replays.get(read.runId)
    if (replay === undefined) replays.set(read.runId, (replay = new RunReplay(snapshot, known)))
    switch (read.what) {
      case 'question':
        replay.ask(read)
        break
      case 'answer':
        replay.answer(read)
        break
      case 'end':
        replay.end(read.callId, read.result, read.atMs)
        break
      case 'call':
        tally.add(read, replay.call({ ...read, policyHash: read.policy.policy_hash }))
        break
    }
  }
  return { tally, runs: replays.size, undecided: calls.undecided }
}

/** What a reader has to know about such figures. */
export function replayNotes(
  { rules, trust_annotations }: Snapshot,
  tally: ReplayTally,
  arePathsWritten: boolean,
): string[] {
  const doubts = tally.data().undecidable
  return [
    ...(rules.some(({ match }) => match.method !== undefined)
      ? ['requests other than tool calls are in the record only where the policy of that time named them']
      : []),
    ...(doubts.arguments > 0
      ? ['arguments were redacted, cut or too large to be kept: rules that look into them cannot be tried']
      : []),
    ...(doubts.paths > 0
      ? ['where a path led is not in the record; --paths-as-written takes paths as they stand']
      : []),
    ...(arePathsWritten
      ? ['paths were taken as written: a link, or another working folder, would make a difference']
      : []),
    ...(doubts.annotations > 0 && trust_annotations !== undefined
      ? ['what servers say of their tools is not in the record; --tools SERVER=FILE gives it']
      : []),
    ...(tally.differing > 0
      ? ['an agent that is told otherwise does something else next; these are decisions over the calls that were made']
      : []),
  ]
}
