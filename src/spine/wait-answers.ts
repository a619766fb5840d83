// How a wait of a run came to its end: from what the session says, and, of a question of policy, from what a person has said to it.
import { readRequests } from '../runs/questions.ts'
import type { ExitRecord, StateEvent } from '../sessions/keeper.ts'
import { noticeIn } from './fleet/wait-kind.ts'
import type { WaitStart } from '../runs/owned-run.ts'
import type { WaitAnswered } from './waits.ts'

/** In words for the record. */
export function saidBySession({ source, evidence, by }: StateEvent['needs_input']): WaitAnswered {
  const answer = source === 'none' ? (evidence ?? 'it went on') : evidence === null ? source : `${source}: ${evidence}`
  return { answer, by: by ?? null }
}

export const SESSION_ENDED = 'the session ended'
export const SESSION_KILLED = 'the session was killed'

/** A session that is gone was not answered, whoever has ended it. */
export function saidByEnd(exit: ExitRecord | undefined): WaitAnswered {
  if (exit?.reason !== 'kill') return { answer: SESSION_ENDED, by: null }
  return { answer: SESSION_KILLED, by: null, ...(exit.ended_by === null ? {} : { endedBy: exit.ended_by }) }
}

/** Nothing where it was no question of policy, or nobody has answered it. */
export function saidByPerson(runDir: string, { evidence }: WaitStart): WaitAnswered | undefined {
  const id = noticeIn(evidence)?.approval
  const request = id === undefined ? undefined : readRequests(runDir).find((one) => one.id === id)
  if (request === undefined || request.answer === null) return undefined
  const said = request.answer === 'allow' ? 'allowed' : 'denied'
  return { answer: request.lasts === null ? said : `${said}, ${request.lasts}`, by: request.answered_by }
}
