// What became of a wait, for people: what its record says, read as a sentence about the agent. Pure.
import { whoEnded } from '../../spine/cancelled.ts'
import { oneLine } from '../../spine/fleet/plain-words.ts'
import { SESSION_ENDED, SESSION_KILLED } from '../../spine/wait-answers.ts'
import type { AnsweredWait } from '../contract.ts'

export interface EndedWait {
  readonly answer: string
  /** Who has answered. */
  readonly by: string | null
  /** Who had the session ended. */
  readonly endedBy: string | null
}

/** An answer is what somebody gave. A wait that is over without one says how, and is counted with none. */
export function becameOf({ answer, by, endedBy }: EndedWait): Pick<AnsweredWait, 'outcome' | 'is_answer'> {
  if (/^(allowed|denied)\b/.test(answer))
    return answered(`${answer.charAt(0).toUpperCase()}${answer.slice(1)}${by === null ? '' : `, by ${by}`}`)
  // What the program said of itself afterwards is how it was noticed, and not what was answered.
  if (by !== null) return answered(`Answered in its terminal, by ${by}`)
  switch (answer) {
    case 'somebody typed':
      return answered('Somebody typed into its terminal')
    case 'it asked something else':
      return unanswered('Asked something else')
    case 'a call was allowed again':
      return unanswered('Its budget allows calls again')
    case SESSION_ENDED:
      return unanswered('Ended before an answer')
    case SESSION_KILLED:
      return unanswered(`Killed before an answer${endedBy === null ? '' : `: ${whoEnded(endedBy)}`}`)
    default:
      return unanswered('Went on by itself')
  }
}

const answered = (words: string): ReturnType<typeof becameOf> => ({ outcome: oneLine(words), is_answer: true })
const unanswered = (words: string): ReturnType<typeof becameOf> => ({ outcome: oneLine(words), is_answer: false })
