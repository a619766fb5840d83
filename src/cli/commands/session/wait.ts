// hm wait: block until a session is idle, needs input or has ended.
import { Watch } from '../../../client/watch.ts'
import { HeimdallError } from '../../../errors.ts'
import type { StateEvent } from '../../../wire/messages.ts'
import type { Answer, Run } from '../../command.ts'
import type { wait } from '../../table/session.ts'
import { connectTo, ended, locate } from './locate.ts'

type Condition = 'idle' | 'needs-input' | 'exit'

export const run: Run<typeof wait> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const condition = flags.for
  if (!located.isRunning) {
    if (condition !== 'exit') throw ended(located)
    return answer(located.id, condition, undefined, located.exit?.exit_code ?? null)
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
    if (!came)
      throw new HeimdallError('SESSION_WAIT_TIMEOUT', `session ${located.id} did not reach ${condition} in time`, {
        hint: `hm status ${located.id} shows what it is doing`,
      })
    return answer(located.id, condition, watch.seen.state, watch.seen.exitCode ?? null)
  } finally {
    connection.close()
  }
}

function isMet(condition: Condition, state: Pick<StateEvent, 'state' | 'needs_input'>): boolean {
  return condition === 'idle' ? state.state === 'idle' : state.needs_input.value
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
