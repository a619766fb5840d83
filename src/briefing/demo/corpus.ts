// The project that the demo briefs: its plan, criteria, invariants, prior waves, and the wave that is next.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { HeimdallError } from '../../errors.ts'

const text = z.string().min(1)
const ids = z.array(text)

/** What the orchestrator and the finished tasks have put down by reference; the rest of the corpus is prose. */
const waveSchema = z.strictObject({
  wave: text,
  invariants: text,
  symbols: z.record(text, text),
  facts: z.record(text, text),
  capsules: z.array(
    z.strictObject({
      id: text,
      what: text,
      where: text.optional(),
      decision: text.optional(),
      gotcha: text.optional(),
      depends: ids.default([]),
    }),
  ),
  tasks: z
    .array(
      z.strictObject({
        task: text,
        symbols: ids,
        capsules: ids,
        facts: ids,
        /** What reports of earlier waves add to the plan for this task: a report says what came up, not whom it binds. */
        needs: ids,
        result: z.strictObject({ criteria: z.array(z.int()), commit: text, what: text, where: text, depends: ids }),
      }),
    )
    .min(1),
})

type Wave = z.infer<typeof waveSchema>

export interface Corpus {
  readonly dir: string
  readonly plan: string
  readonly criteria: string
  readonly invariants: string
  /** Reports of the waves before, oldest first. */
  readonly priorWaves: readonly string[]
  readonly wave: Wave
}

export function loadCorpus(dir: string = shippedCorpus()): Corpus {
  const read = (file: string): string => readFileSync(join(dir, file), 'utf8')
  const wave = waveSchema.parse(JSON.parse(read('wave.json')))
  return {
    dir,
    plan: read('PLAN.md'),
    criteria: read('CRITERIA.md'),
    invariants: read(wave.invariants),
    priorWaves: readdirSync(join(dir, 'waves'))
      .sort()
      .map((name) => read(`waves/${name}`)),
    wave,
  }
}

/** The section of the plan that is about one task, heading included. */
export function sectionOf(plan: string, task: string): string {
  const lines = plan.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`#### Task ${task} `))
  if (start === -1) throw new HeimdallError('INTERNAL', `the plan of the corpus has no section on task ${task}`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('#'))
  const section = length === -1 ? lines.slice(start) : lines.slice(start, start + 1 + length)
  return section.join('\n').replace(/^#+ /, '').trim()
}

/** The criteria that the section of a task refers to by number. */
export function criteriaOf({ plan, criteria }: Pick<Corpus, 'plan' | 'criteria'>, task: string): string[] {
  const numbers = /Criteria ([\d, ]+)\.$/.exec(sectionOf(plan, task))?.[1]?.split(', ') ?? []
  return numbers.map((number) => {
    const line = criteria.split('\n').find((text) => text.startsWith(`${number}. `))
    if (line === undefined) throw new HeimdallError('INTERNAL', `the corpus has no criterion ${number}`)
    return line
  })
}

/** What stands under a heading of the plan, up to the next one. */
export function under(plan: string, heading: string): string {
  const lines = plan.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start === -1) throw new HeimdallError('INTERNAL', `the plan of the corpus has no heading ${heading}`)
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('#'))
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join('\n')
}

/** `corpus/` lies in the package, however deep in it this file ends up. */
function shippedCorpus(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); dir !== dirname(dir); dir = dirname(dir))
    if (existsSync(join(dir, 'corpus/tally/PLAN.md'))) return join(dir, 'corpus/tally')
  throw new HeimdallError('INTERNAL', 'the corpus of the demo is not in this package')
}
