// The demo measures: its figures follow from the shipped texts, from nothing else, and a typed number cannot join them.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { loadCorpus } from '../../src/briefing/demo/corpus.ts'
import { type Demo, runDemo } from '../../src/briefing/demo/three-briefings.ts'
import { carries, needsOf } from '../../src/briefing/demo/needs.ts'
import { openPlanning } from '../../src/briefing/planning.ts'
import { logMeasured, readLedger } from '../../src/briefing/token-ledger.ts'
import { systemClock } from '../../src/clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { temporaryIsland } from './island.ts'

const count = (text: string): number => encode(text).length
const CORPUS = 'corpus/tally'
const prose = ['PLAN.md', 'CRITERIA.md', 'INVARIANTS.md', 'waves/1.md', 'waves/2.md'].map((file) =>
  readFileSync(join(CORPUS, file), 'utf8'),
)

/** Invariants and earlier reports, then the task's own section and the criteria that it numbers. */
function writtenByHand(task: string): string {
  const [plan = '', criteria = '', invariants = '', ...reports] = prose
  const section = new RegExp(`^#### (Task ${task} .*\\n.*)$`, 'm').exec(plan)?.[1] ?? ''
  const numbers = section.match(/(?<=Criteria )[\d, ]+/)?.[0].split(', ') ?? []
  const own = numbers.map((number) => new RegExp(`^${number}\\. .*$`, 'm').exec(criteria)?.[0])
  return `${[invariants, ...reports].join('\n')}\n${section}\n\n${own.join('\n')}\n`
}

test("seed 000, demo: the four lines carry the figures that a recount of the texts gives, and the project's ledger is not touched", async () => {
  const island = temporaryIsland()
  const { code, stdout } = await island.run('heimdall-protocol', ['demo'])
  const { data } = JSON.parse((await island.run('heimdall', ['protocol', 'demo', '--json'])).stdout) as {
    data: Demo & { briefs: { text: string }[] }
  }
  expect(code).toBe(0)
  const v1 = ['3.1', '3.2', '3.3'].map((task) =>
    count(`${prose.join('\n')}\nYour task is task ${task} of the plan above.\n`),
  )
  const baseline = v1.reduce((a, b) => a + b, 0)
  const briefRows = data.rows.filter(({ kind }) => kind === 'delta_brief').map(({ tokens }) => tokens)
  expect(briefRows).toEqual(data.briefs.map(({ text }) => count(text)))
  const v2 = data.rows.reduce((sum, { tokens }) => sum + tokens, 0)
  const percent = Math.round((100 * (baseline - v2)) / baseline)
  expect(stdout.split('\n').slice(0, 4)).toEqual([
    `v1 orchestration (briefing 3 spawns, verbatim): ${baseline} tokens (baseline)`,
    `v2 orchestration (symbol table + 3 delta briefs + 3 typed results): ${v2} tokens`,
    `measured delta: orchestration: ${baseline} -> ${v2} tokens (-${percent}%)`,
    `The summary-card line: orchestration: ${Math.round(baseline / 1_000)}k → ${v2} tokens, measured.`,
  ])
  expect(percent).toBeGreaterThanOrEqual(85)
  const byHand = ['3.1', '3.2', '3.3'].map((task) => count(writtenByHand(task))).reduce((a, b) => a + b, 0)
  expect(data.byHand.tokens).toBe(byHand)
  expect(stdout.split('\n').slice(4, 6)).toEqual([
    expect.stringContaining('against verbatim briefs'),
    expect.stringContaining(`${byHand} -> ${v2} tokens (-${Math.round((100 * (byHand - v2)) / byHand)}%)`),
  ])
  for (const row of data.rows) expect(row).toMatchObject({ source: 'measured', tokenizer: 'o200k_base' })
  expect(island.has('')).toBe(false)
})

test('the figures follow the corpus: what is added to the criteria is added to every verbatim brief and to nothing else', async () => {
  const dir = join(temporaryFolder(), 'tally')
  cpSync(CORPUS, dir, { recursive: true })
  const added = '\nA criterion that nobody refers to, with words enough to be seen in the count.\n'
  writeFileSync(join(dir, 'CRITERIA.md'), readFileSync(join(CORPUS, 'CRITERIA.md'), 'utf8') + added)
  const [before, after] = [await runDemo(systemClock), await runDemo(systemClock, loadCorpus(dir))]
  expect(after.baseline - before.baseline).toBe(3 * (count(`x.${added}`) - count('x.')))
  expect(after.tokens).toBe(before.tokens)
})

test('a fact that a capsule has lost is found by the fidelity check', async () => {
  const dir = join(temporaryFolder(), 'tally')
  cpSync(CORPUS, dir, { recursive: true })
  const wave = readFileSync(join(CORPUS, 'wave.json'), 'utf8')
  writeFileSync(join(dir, 'wave.json'), wave.replace(', else undeclared-account', ''))
  const { fidelity } = await runDemo(systemClock, loadCorpus(dir))
  expect(fidelity.lost).toEqual([{ task: '3.2', source: 'report', fact: 'undeclared-account' }])
  expect((await runDemo(systemClock)).fidelity.lost).toEqual([])
})

test('what acceptance needs is in the plan, and the rule finds what an independent reader found missing', async () => {
  const corpus = loadCorpus(CORPUS)
  const needs = corpus.wave.tasks.flatMap(({ task }) => needsOf(corpus, task))
  expect(needs.filter(({ fact }) => !carries(prose.join('\n'), fact))).toEqual([])
  for (const [task, fact] of [
    ['3.1', 'RFC 3339'],
    ['3.2', 'Idempotency-Key'],
    ['3.2', 'application/problem+json'],
    ['3.3', 'closed_at, checksum, postings_count'],
    ['3.3', 'day-not-empty'],
    ['3.1', 'The same range and position give the same bytes, also after later postings and on the standby.'],
  ])
    expect(needs).toContainEqual(expect.objectContaining({ task, fact }))
  // Reading is not writing: a statement needs no idempotency key.
  expect(needs).not.toContainEqual(expect.objectContaining({ task: '3.1', fact: 'Idempotency-Key' }))
  const { byHand } = await runDemo(systemClock)
  expect(byHand.fidelity.lost).toContainEqual({ task: '3.2', source: 'contract', fact: 'Idempotency-Key' })
})

test('seed 000, demo: every reference opened is the invariants and all ids that the brief leaves open, recounted', async () => {
  const { arms, opened, tokens } = await runDemo(systemClock)
  const symbols = (JSON.parse(readFileSync(join(CORPUS, 'wave.json'), 'utf8')) as { symbols: Record<string, string> })
    .symbols
  const read = arms.protocol.briefs.map(({ text }) => {
    const ids = /^ {2}symbol \(heimdall-resolve ID\): (.*)$/m.exec(text)?.[1]?.split(' ') ?? []
    return count([prose[2], ...ids.map((id) => `${symbols[id]}\n`)].join(''))
  })
  expect(opened.tokens).toBe(tokens + read.reduce((a, b) => a + b, 0))
  expect(Math.max(...read)).toBeGreaterThan(count(prose[2] ?? ''))
})

test('docs/briefing.md has the figures with every reference opened, as the command prints them', async () => {
  const { stdout } = await temporaryIsland().run('heimdall-protocol', ['demo'])
  const lines = /^with every reference opened.*\n.*\nbreak-even.*\n/m.exec(stdout)?.[0]
  expect(lines).toBeDefined()
  expect(readFileSync('docs/briefing.md', 'utf8')).toContain(`\`\`\`\n${lines}\`\`\``)
})

test('the README shows what the command prints', async () => {
  const { stdout } = await temporaryIsland().run('heimdall-protocol', ['demo'])
  expect(readFileSync('README.md', 'utf8')).toContain(`$ heimdall-protocol demo\n${stdout}\`\`\``)
})

test('a token count that was typed in cannot be logged as measured', async () => {
  const root = temporaryFolder()
  const planning = openPlanning({ root, planningDir: join(root, '.planning') }, systemClock, () => {})
  await expect(
    logMeasured(planning, { role: 'r', kind: 'k' }, { tokens: 3_300, tokenizer: 'o200k_base' }),
  ).rejects.toThrow(/claims to be measured/)
  expect(readLedger(planning).rows).toEqual([])
})

test('only the ledger and the baselines write the word measured, and only the tokenizer makes what they accept', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const holding = (pattern: RegExp): string[] =>
    sources.filter((name) => pattern.test(readFileSync(join('src', name), 'utf8'))).sort()
  expect(holding(/source: 'measured'(?! \|)/)).toEqual(['briefing/baselines.ts', 'briefing/token-ledger.ts'])
  expect(holding(/genuine\.add/)).toEqual(['briefing/tokens.ts'])
})
