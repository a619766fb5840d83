// Whether a short brief is still a brief: each fact that a task's acceptance needs must be in it, or one reference away.
import type { Arm } from './arms.ts'
import type { Corpus } from './corpus.ts'
import { carries, type Need, needsOf } from './needs.ts'

export interface Fidelity {
  readonly inBrief: number
  readonly oneReferenceAway: number
  /** Facts that the brief has lost. */
  readonly lost: readonly Need[]
}

export function checkFidelity(corpus: Corpus, { briefs }: Pick<Arm, 'briefs'>): Fidelity {
  let inBrief = 0
  let oneReferenceAway = 0
  const lost: Need[] = []
  for (const { task } of corpus.wave.tasks) {
    const { text: brief = '', references = '' } = briefs.find((candidate) => candidate.task === task) ?? {}
    for (const need of needsOf(corpus, task)) {
      if (carries(brief, need.fact)) inBrief += 1
      else if (carries(references, need.fact)) oneReferenceAway += 1
      else lost.push(need)
    }
  }
  return { inBrief, oneReferenceAway, lost }
}
