// hm wait: block until a session is idle, needs input or has ended.
import { Watch } from '../../../client/watch.ts'
import { pause } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import type { ExitRecord } from '../../../wire/exit-record.ts'
import type { StateEvent } from '../../../wire/payloads.ts'
import type { Answer, Context, InputOf, Run } from '../../command.ts'
import type { wait } from '../../table/session.ts'
import { connectTo, ended, locate, type Located } from './locate.ts'

type Flags = InputOf<typeof wait>['flags']
type Condition = 'idle' | 'needs-input' | 'exit'

export const run: Run<typeof wait> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const condition = flags.for
  if (!located.isRunning) {
    if (condition !== 'exit') throw ended(located)
    const exit = located.orphans.length === 0 ? located.exit : await endOfLost(context, flags, located)
    return answer(located.id, condition, undefined, exit?.exit_code ?? null)
  }
  const connection = await connectTo(located)
  try {
    const watch = new Watch(connection.subscribe({ from: 'live', readOnly: true, events: true }), context.clock)
    const now = condition === 'exit' ? undefined : await connection.info()
    if (now !== undefined && isMet(condition, now)) return answer(located.id, condition, now, now.exit_code)
    const came = await watch.until(
      (seen) =>
        condition === 'exit' ? seen.exitCode !== undefined : seen.state !== undefined && isMet(condition, seen.state),
      flags.timeout,
    )
    if (!came) throw tooLate(located.id, condition)
    return answer(located.id, condition, watch.seen.state, watch.seen.exitCode ?? null)
  } finally {
    connection.close()
  }
}

/** A session without a supervisor ends with the last of its processes, and its record is then made by whoever looks. */
async function endOfLost(context: Context, flags: Flags, { id }: Located): Promise<ExitRecord | undefined> {
  const deadlineMs = context.clock.monoMs() + (flags.timeout ?? Number.POSITIVE_INFINITY)
  for (;;) {
    const located = await locate(context, flags, id)
    if (located.orphans.length === 0) return located.exit
    if (context.clock.monoMs() >= deadlineMs) throw tooLate(id, 'exit')
    await pause(context.clock, LOST_LOOK_MS)
  }
}

const LOST_LOOK_MS = 100

function isMet(condition: Condition, state: Pick<StateEvent, 'state' | 'needs_input'>): boolean {
  return condition === 'idle' ? state.state === 'idle' : state.needs_input.value
}

function tooLate(id: string, condition: Condition): HeimdallError {
  return new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${id} did not reach ${condition} in time`, {
    hint: `hm status ${id} shows what it is doing`,
  })
}

type Known = Pick<StateEvent, 'state' | 'needs_input'>

function answer(id: string, condition: Condition, state: Known | undefined, exitCode: number | null): Answer {
  const data = {
    id,
    for: condition,
    state: condition === 'exit' ? 'dead' : (state?.state ?? null),
    needs_input: state?.needs_input ?? null,
    exit_code: exitCode,
  }
  const evidence = state?.needs_input.evidence
  const what =
    condition === 'exit' ? `ended with exit code ${exitCode}` : condition === 'idle' ? 'is idle' : 'needs input'
  const why = condition === 'needs-input' && typeof evidence === 'string' ? `: ${evidence}` : ''
  return { data, text: `Session ${id} ${what}${why}` }
}
