// Whether a short brief is still a brief: each fact that a task needs must be in it, or one reference away.
import type { Corpus } from './corpus.ts'

export interface Fidelity {
  readonly inBrief: number
  readonly oneReferenceAway: number
  /** Facts that the brief has lost, with their task. */
  readonly lost: readonly string[]
  /** Facts that are not in the verbatim text either: an error of the corpus. */
  readonly unfounded: readonly string[]
}

export function checkFidelity(
  corpus: Corpus,
  briefs: readonly { readonly task: string; readonly text: string }[],
  verbatim: string,
): Fidelity {
  let inBrief = 0
  let oneReferenceAway = 0
  const lost: string[] = []
  const unfounded: string[] = []
  for (const { task, needs } of corpus.wave.tasks) {
    const brief = briefs.find((candidate) => candidate.task === task)?.text ?? ''
    // The only reference that a brief leaves unopened is that to the invariants.
    const referenced = brief.includes(`INVARIANTS REF: ${corpus.wave.invariants}`) ? corpus.invariants : ''
    for (const need of needs) {
      if (!verbatim.includes(need)) unfounded.push(`${task}: ${need}`)
      if (brief.includes(need)) inBrief += 1
      else if (referenced.includes(need)) oneReferenceAway += 1
      else lost.push(`${task}: ${need}`)
    }
  }
  return { inBrief, oneReferenceAway, lost, unfounded }
}
