// What persons had said by the time of a call, as far as the record tells.
import type { Plan } from '../decide/plan.ts'
import type { RecordedAnswer, RecordedCall, RecordedQuestion } from './recorded.ts'

type Answer = 'allow' | 'deny'
type Way = ReadonlyMap<string, Answer>

interface Standing extends RecordedAnswer {
  readonly question: RecordedQuestion
}

export class RecordedAnswers {
  readonly #policyHash: string
  readonly #questions = new Map<string, RecordedQuestion>()
  /** By rule: what it was when it last asked. A rule that is edited asks anew. */
  readonly #asked = new Map<string, string | null>()
  readonly #standing: Standing[] = []

  constructor(policyHash: string) {
    this.#policyHash = policyHash
  }

  ask(question: RecordedQuestion): void {
    this.#questions.set(question.id, question)
    this.#asked.set(question.ruleId, question.ruleHash)
  }

  answer(answer: RecordedAnswer): void {
    const question = this.#questions.get(answer.id)
    if (question !== undefined) this.#standing.push({ ...answer, question })
  }

  /** Every way in which the questions of a plan may have been answered; one where the record leaves no doubt. */
  of(call: RecordedCall, { asks }: Plan): readonly Way[] {
    let ways: Way[] = [new Map()]
    for (const ask of asks) {
      const said = this.#said(call, ask.ruleId, ask.ruleHash)
      ways = said.flatMap((one) => (one === null ? ways : ways.map((way) => new Map([...way, [ask.ruleId, one]]))))
    }
    return ways
  }

  #said(call: RecordedCall, ruleId: string, ruleHash: string): readonly (Answer | null)[] {
    const { rule_id, reason_code } = call.decision
    if (rule_id === ruleId) {
      const said = reason_code === 'APPROVED' ? 'allow' : reason_code === 'APPROVAL_DENIED' ? 'deny' : null
      // Whatever the rule was, one that has no answer asks.
      if (said === null) return [null]
      const asked = call.policyHash === this.#policyHash ? ruleHash : this.#asked.get(ruleId)
      if (asked == null) return [said, null]
      return [asked === ruleHash ? said : null]
    }
    const last = this.#standing.findLast((one) => isFor(one, call, ruleId))
    if (last === undefined) return [null]
    const { ruleHash: asked } = last.question
    if (asked !== null && asked !== ruleHash) return [null]
    // An answer for once may have been used by now.
    return asked === null || last.untilMs === 'once' ? [last.answer, null] : [last.answer]
  }
}

function isFor({ ruleId, isOfRule, untilMs, question }: Standing, call: RecordedCall, wanted: string): boolean {
  if (ruleId !== wanted || (untilMs !== 'once' && call.atMs >= untilMs)) return false
  return (
    isOfRule || (question.server === call.server && question.tool === call.tool && question.argsHash === call.argsHash)
  )
}
