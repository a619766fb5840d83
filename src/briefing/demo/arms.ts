// One wave briefed three times from the same corpus: verbatim, by hand with care, and by reference. All arms are texts, made by code.
import { showCapsule, writeCapsule } from '../capsules.ts'
import { getFact, setFact } from '../blackboard.ts'
import { type Brief, buildBrief } from '../brief.ts'
import type { Planning } from '../planning.ts'
import { row } from '../../storage/columns.ts'
import { importSymbols, lookUpSymbol } from '../symbols.ts'
import { finishTask } from '../task-result.ts'
import { type Corpus, criteriaOf, sectionOf } from './corpus.ts'

export interface ArmBrief {
  readonly task: string
  readonly text: string
  readonly prefix?: string
  /** What an agent reads in addition if it opens every reference of the brief. */
  readonly references?: string
}

export interface Arm {
  /** What one agent is sent, task by task. */
  readonly briefs: readonly ArmBrief[]
  /** Sent or written once for all of them. */
  readonly once: string
  /** What earlier waves left behind and this one builds on; paid for then, and shown so that nobody has to ask. */
  readonly before: string
  /** What comes back, task by task. */
  readonly results: readonly string[]
}

/**
 * What an orchestrator without references does: plan, criteria, invariants and prior waves into every brief. What all
 * briefs share comes first, so that a prompt cache serves this arm as well as it can. What its agents answer in prose
 * is not counted.
 */
export function verbatimArm(corpus: Corpus): Arm {
  const shared = [corpus.plan, corpus.criteria, corpus.invariants, ...corpus.priorWaves].join('\n')
  const briefs = corpus.wave.tasks.map(({ task }) => ({
    task,
    text: `${shared}\nYour task is task ${task} of the plan above.\n`,
  }))
  return { briefs, before: '', once: '', results: [] }
}

/**
 * What a careful person writes: the task's own section of the plan, the criteria that it numbers, the invariants and
 * the reports of the waves before, word for word, shared part first. The rest of the plan is left out.
 */
export function byHandArm(corpus: Corpus): Arm {
  const shared = [corpus.invariants, ...corpus.priorWaves].join('\n')
  const briefs = corpus.wave.tasks.map(({ task }) => ({
    task,
    text: `${shared}\n${sectionOf(corpus.plan, task)}\n\n${criteriaOf(corpus, task).join('\n')}\n`,
  }))
  return { briefs, before: '', once: '', results: [] }
}

/** The same wave by this protocol, through the functions that the commands call. */
export async function protocolArm(planning: Planning, corpus: Corpus): Promise<Arm> {
  const { wave } = corpus
  await putReferences(planning, corpus)
  const before = [
    ...wave.capsules.map(({ id }) => showCapsule(planning, id)),
    ...Object.entries(wave.facts).map(([key, value]) => `${row(key, value)}\n`),
  ].join('')
  const briefs = wave.tasks.map(({ task, symbols, capsules, facts }) => {
    const spec = sectionOf(corpus.plan, task)
    const request = { task, spec, symbols, capsules, facts, invariants: wave.invariants }
    const { text, prefix, open } = buildBrief(planning, request)
    const references = [corpus.invariants, ...open.map((reference) => openedText(planning, reference))].join('')
    return { task, text: `${text}\n`, prefix, references }
  })
  const results = wave.tasks.map(({ task, result }) => {
    const message = finishTask(planning, { ...result, task, status: 'pass', from: 'coder', msgId: `r-${task}` })
    return `${JSON.stringify(message)}\n`
  })
  return { briefs, before, once: symbolTable(corpus), results }
}

/** What the command that a brief names for it prints. */
function openedText(planning: Planning, { kind, id }: Brief['open'][number]): string {
  if (kind === 'unknown') return ''
  if (kind === 'capsule') return showCapsule(planning, id)
  return `${kind === 'fact' ? getFact(planning, id).value : lookUpSymbol(planning, id)}\n`
}

/** What the orchestrator and earlier waves have put down for this one to refer to. */
export async function putReferences(planning: Planning, { wave }: Corpus): Promise<void> {
  await importSymbols(planning, new Map(Object.entries(wave.symbols)))
  for (const [key, value] of Object.entries(wave.facts)) await setFact(planning, key, value, 'orchestration')
  for (const { id, ...fields } of wave.capsules) writeCapsule(planning, id, fields)
}

/** Sent once for all briefs of the wave. */
export function symbolTable({ wave }: Corpus): string {
  return Object.entries(wave.symbols)
    .map(([id, value]) => `${row(id, value)}\n`)
    .join('')
}
