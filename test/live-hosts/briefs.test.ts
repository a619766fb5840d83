// Seed 000, "Every message/spawn logs its token cost by role", with two real hosts: one briefs by commands, the other by MCP.
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { LedgerRow } from '../../src/briefing/token-ledger.ts'
import { spine } from '../spine/spine.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, dialogue, oneOf, say } from '../support/hosts/script.ts'
import { launcher } from '../support/programs.ts'

const count = (text: string): number => encode(text).length
const command = (name: string): string => launcher(name).join(' ')
const HANDED_ON = ['HEIMDALL_SESSION_ID', 'HEIMDALL_AGENT_ID', 'HEIMDALL_HAID', 'HEIMDALL_ROLE', 'HEIMDALL_RUN_DIR']

const isThere = (['claude', 'codex'] as const).every((name) => installedHosts().includes(name))

test.runIf(isThere)('the ledger of two hosts has their briefs by role, and delta is recounted', async () => {
  const project = spine()
  const spec = { task: '1', spec: 'review part 1', capsules: 'w1' }
  const model = await modelServer(
    oneOf(
      dialogue('brief the coder', [
        act({
          shell: [
            `${command('heimdall-resolve')} set F12 src/matching/engine.ts`,
            `${command('heimdall-capsule')} write w1 --what "added LOB engine" --where F12`,
            `${command('heimdall-brief')} build --task 1 --spec "implement part 1" --symbols F12 > brief-1.txt`,
          ].join(' && '),
        }),
        say('briefed'),
      ]),
      dialogue('review it', [act({ server: 'ledger', tool: 'brief', input: spec }), say('reviewed')]),
    ),
  )
  const [node, entry] = launcher('heimdall-ledger-mcp')
  const servers = [{ name: 'ledger', command: [node, entry] as [string, string], envNames: HANDED_ON }]
  const runAs = async (name: 'claude' | 'codex', agent: string, role: string, prompt: string): Promise<void> => {
    const host = prepareHost(name, { project, model, servers })
    const words = ['run', '--agent', agent, '--role', role, '--', ...host.headless(prompt)]
    const { code, stdout, stderr } = await project.run('heimdall', words, { env: host.env })
    expect(code, stdout + stderr).toBe(0)
  }
  await runAs('claude', 'amber-otter', 'orchestration', 'brief the coder')
  await runAs('codex', 'cobalt-harbor', 'coder', 'review it')
  const rows = project
    .read('.planning/protocol/ledger.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerRow)
  const again = await project.run('heimdall-brief', [
    'build',
    ...Object.entries(spec).flatMap(([flag, value]) => [`--${flag}`, value]),
  ])
  // A command ends its text with a newline, a tool does not.
  const briefs = [project.read('brief-1.txt'), again.stdout.replace(/\n$/, '')]
  expect(rows.map(({ role, kind, tokens, source }) => [role, kind, tokens, source])).toEqual([
    ['orchestration', 'delta_brief', count(briefs[0] ?? ''), 'measured'],
    ['coder', 'delta_brief', count(briefs[1] ?? ''), 'measured'],
  ])
  await project.run('heimdall-ledger', ['baseline', '--role', 'orchestration', '--tokens', '1000'])
  const { stdout } = await project.run('heimdall-ledger', ['delta', '--role', 'orchestration'])
  expect(stdout).toContain(`orchestration: 1000 -> ${rows[0]?.tokens} tokens`)
})
