// What the acceptance of a task needs to know, chosen from the corpus by a rule (docs/briefing.md) and not by taste.
import { type Corpus, criteriaOf, sectionOf, under } from './corpus.ts'

export interface Need {
  readonly task: string
  /** What has to stand in the brief, word for word. */
  readonly fact: string
  readonly source: 'section' | 'criterion' | 'invariant' | 'table' | 'contract' | 'report'
}

/**
 * What binds the task: every sentence of its section of the plan, its criteria and the invariants; every row of the
 * plan's tables that is about it; of the contract of the interface that it adds to, whose sentences may be put shorter,
 * the hard words; and what the reports of earlier waves add.
 */
export function needsOf(corpus: Corpus, task: string): Need[] {
  const section = sectionOf(corpus.plan, task)
  const criteria = criteriaOf(corpus, task).map((text) => text.replace(/^\d+\. /, ''))
  const reported = corpus.wave.tasks.find((entry) => entry.task === task)?.needs ?? []
  const facts: Record<Need['source'], readonly string[]> = {
    section: sentences(section),
    criterion: criteria,
    invariant: corpus.invariants.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : [])),
    table: rowsAbout(corpus.plan, [section, ...criteria].join('\n')).flat(),
    contract: contract(corpus.plan, section)
      .flatMap(hardWords)
      .filter((term) => !isEndpoint(term) || section.includes(term)),
    report: reported,
  }
  const seen = new Set<string>()
  return Object.entries(facts).flatMap(([source, found]) =>
    found
      .filter((fact) => !seen.has(fact) && seen.add(fact))
      .map((fact) => ({ task, fact, source: source as Need['source'] })),
  )
}

/** Terms in code marks, names in capitals, numbers: what cannot be said in other words. */
function hardWords(text: string): string[] {
  const code = Array.from(text.matchAll(/`([^`]+)`/g), ([, term]) => term ?? '')
  const prose = text.replaceAll(/`[^`]+`/g, ' ')
  const names = Array.from(prose.matchAll(/\b[A-Z]{2,}(?:[-/ ]\d[\d.]*\b)?/g), ([term]) => term)
  const rest = names.reduce((left, term) => left.replace(term, ' '), prose)
  return [...code, ...names, ...Array.from(rest.matchAll(/\d+(?:[.,]\d+)*/g), ([term]) => term)]
}

/** Whole words only, so that 16 is not found in 4096; however the lines are broken and whatever is in code marks. */
export function carries(brief: string, wanted: string): boolean {
  const text = plain(brief)
  const fact = plain(wanted)
  for (let at = text.indexOf(fact); at >= 0; at = text.indexOf(fact, at + 1)) {
    const runsOnBefore = /^\w/.test(fact) && /\w/.test(text[at - 1] ?? ' ')
    const runsOnAfter = /\w$/.test(fact) && /\w/.test(text[at + fact.length] ?? ' ')
    if (!runsOnBefore && !runsOnAfter) return true
  }
  return false
}

const plain = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ')

/**
 * A row is about the task when the task's own text names it, or has every word of what the row says last: closing a
 * day answers with the problem that speaks of transit accounts that are not empty.
 */
function rowsAbout(plan: string, own: string): string[][] {
  const words = new Set(own.toLowerCase().match(/[\p{L}\p{N}_-]+/gu))
  const rows = plan.split('\n').flatMap((line) => (/^\| (?!---)/.test(line) ? [cellsOf(line)] : []))
  return rows.filter((cells) => {
    const name = cells[0] ?? ''
    const last = (
      cells
        .at(-1)
        ?.toLowerCase()
        .match(/[\p{L}\p{N}_-]+/gu) ?? []
    ).filter((word) => !SMALL_WORDS.has(word))
    return words.has(name) || (cells.length > 2 && last.length > 2 && last.every((word) => words.has(word)))
  })
}

const SMALL_WORDS = new Set([
  'a',
  'an',
  'and',
  'as',
  'by',
  'in',
  'is',
  'its',
  'not',
  'of',
  'or',
  'the',
  'to',
  'up',
  'would',
])

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''))

/** What holds for every endpoint, if the task adds one; for every write or read, if it adds such a one. */
function contract(plan: string, section: string): string[] {
  const isWrite = /`(?:POST|PUT|PATCH|DELETE) /.test(section)
  const isRead = /`GET /.test(section)
  if (!isWrite && !isRead) return []
  return [...sentences(under(plan, 'Interfaces')), ...sentences(under(plan, 'HTTP contract in short'))].filter(
    (text) => (isWrite || !text.startsWith('Every write ')) && (isRead || !/^(?:Every read|Lists) /.test(text)),
  )
}

const isEndpoint = (term: string): boolean => /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(term)

const sentences = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('|'))
    .join(' ')
    .split(/(?<=[.:]) (?=[A-Z])/)
