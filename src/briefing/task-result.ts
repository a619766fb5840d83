// The end of a task in one step: its capsule for those who build on it, and the message that refers to the capsule.
import { isoSeconds } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { CapsuleFields } from './capsule-text.ts'
import { writeCapsule } from './capsules.ts'
import { accept } from './gate.ts'
import type { Message } from './messages.ts'
import type { Planning } from './planning.ts'

interface TaskResult extends CapsuleFields {
  /** Names the capsule as well. */
  readonly task: string
  readonly status: 'pass' | 'fail' | 'partial'
  readonly from: string
  readonly msgId: string
  readonly criteria: readonly number[]
  readonly commit?: string | undefined
}

/** The message is judged before the capsule is written, so that a refused message leaves no capsule behind. */
export function finishTask(planning: Planning, result: TaskResult): Message {
  const message = accept({
    type: 'task_result',
    from: result.from,
    msg_id: result.msgId,
    ts: isoSeconds(planning.clock.wallMs()),
    task: result.task,
    status: result.status,
    ...(result.criteria.length === 0 ? {} : { criteria: [...result.criteria] }),
    ...(result.commit === undefined ? {} : { commit: result.commit }),
    capsule: result.task,
  })
  try {
    writeCapsule(planning, result.task, result)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'CAPSULE_TOO_LONG') throw error
    // The caller's result is refused, as with a message that does not fit; it made no mistake on the command line.
    throw new HeimdallError('MESSAGE_INVALID', error.message, { cause: error })
  }
  return message
}
