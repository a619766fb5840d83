// The demo measures: its figures follow from the shipped texts, from nothing else, and a typed number cannot join them.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { loadCorpus } from '../../src/briefing/demo/corpus.ts'
import { type Demo, runDemo } from '../../src/briefing/demo/demo.ts'
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

test("seed 000, demo: the four lines carry the figures that a recount of the texts gives, and the project's ledger is not touched", () => {
  const island = temporaryIsland()
  const { code, stdout } = island.run('heimdall-protocol', ['demo'])
  const { data } = JSON.parse(island.run('heimdall', ['protocol', 'demo', '--json']).stdout) as {
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
  expect(fidelity).toMatchObject({ lost: ['3.2: undeclared-account'], unfounded: [] })
  expect((await runDemo(systemClock)).fidelity).toMatchObject({ lost: [], unfounded: [] })
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
