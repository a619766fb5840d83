// Seed 000, "Every message/spawn logs its token cost by role": two runs brief and are briefed, over commands and over MCP.
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { LedgerRow } from '../../src/briefing/token-ledger.ts'
import { launcher } from '../support/programs.ts'
import { type Spine, spine } from './spine.ts'

const count = (text: string): number => encode(text).length
const command = (name: string): string => launcher(name).join(' ')

const ORCHESTRATOR = `
${command('heimdall-resolve')} set F12 src/matching/engine.ts
${command('heimdall-capsule')} write w1 --what "added LOB engine" --where F12
for task in 1 2; do
  ${command('heimdall-brief')} build --task $task --spec "implement part $task" --symbols F12 --capsules w1 > brief-$task.txt
done`

const call = (id: number, name: string, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })
const CODER = `
cat > calls.jsonl <<'EOF'
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"any-host"}}}
${call(1, 'brief', { task: '1', spec: 'review part 1', capsules: 'w1' })}
${call(2, 'hydrate', { ids: ['w1'] })}
EOF
${command('heimdall-ledger-mcp')} < calls.jsonl > answers.jsonl
${command('heimdall-task-result')} done --task 1 --status pass --from coder --what "part 1" > result.json`

async function runAs(project: Spine, agent: string, script: string, ...flags: string[]): Promise<void> {
  const { exit_code: code } = await project.json([
    'run',
    '--agent',
    agent,
    '--detach',
    '--wait',
    ...flags,
    '--',
    'sh',
    '-ec',
    script,
  ])
  expect(code).toBe(0)
}

test('the ledger of two runs has every brief, hydration and result by role, and delta is recounted by another tokenizer call', async () => {
  const project = spine()
  await runAs(project, 'amber-otter', ORCHESTRATOR, '--role', 'orchestration')
  await runAs(project, 'cobalt-harbor', CODER, '--role', 'coder')
  const briefs = ['brief-1.txt', 'brief-2.txt'].map((file) => project.read(file))
  const answers = project
    .read('answers.jsonl')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as { result: { structuredContent: { text: string } } }).result.structuredContent)
  const rows = project
    .read('.planning/protocol/ledger.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerRow)
  expect(rows.map(({ role, kind, tokens }) => [role, kind, tokens])).toEqual([
    ...briefs.map((text) => ['orchestration', 'delta_brief', count(text)]),
    ['coder', 'delta_brief', count(answers[0]?.text ?? '')],
    ['coder', 'hydration', count(answers[1]?.text ?? '')],
    ['coder', 'task_result', count(project.read('result.json').trim())],
  ])
  expect(rows.every(({ source, run_id }) => source === 'measured' && run_id !== undefined)).toBe(true)

  await project.run('heimdall-ledger', ['baseline', '--role', 'orchestration', '--tokens', '1000'])
  const spent = briefs.reduce((sum, text) => sum + count(text), 0)
  const { stdout } = await project.run('heimdall-ledger', ['delta', '--role', 'orchestration'])
  expect(stdout).toContain(
    `orchestration: 1000 -> ${spent} tokens (v1 baseline -> measured; -${Math.round((1000 - spent) / 10)}%)`,
  )
})

test('HEIMDALL_ROLE of a run is its --role, or the role that the agent has', async () => {
  const project = spine()
  const roleIn = async (agent: string, ...flags: string[]): Promise<string> => {
    await runAs(project, agent, 'printf %s "$HEIMDALL_ROLE" > role.txt', ...flags)
    return project.read('role.txt')
  }
  expect(await roleIn('teal-badger', '--role', 'reviewer')).toBe('reviewer')
  expect(await roleIn('teal-badger')).toBe('reviewer')
  expect(await roleIn('teal-badger', '--role', 'coder')).toBe('coder')
  expect(await roleIn('plain-vole')).toBe('agent')
})
