// Seed 000's own 55 acceptance cases, driven through the seed's own command names against one planning folder.
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Island, makeIsland, type Outcome } from './island.ts'

const LAUNCHERS = [
  'heimdall-resolve',
  'heimdall-blackboard',
  'heimdall-capsule',
  'heimdall-brief',
  'heimdall-ledger',
  'heimdall-validate',
  'heimdall-gate',
  'heimdall-protocol',
]
const GOOD =
  '{"type":"task_result","from":"coder","msg_id":"m1","task":"3.2","status":"pass","criteria":[1,2,4],"commit":"a2ef507"}'
const TRUNCATED = '{"type":"task_result","from":"coder"'

let island: Island
const outcomes = new Map<string, Outcome>()
const outcome = (name: string): Outcome => {
  const found = outcomes.get(name)
  if (found === undefined) throw new Error(`no command called ${name} was run`)
  return found
}
const lines = (text: string): number => text.split('\n').length - 1

beforeAll(async () => {
  island = makeIsland()
  const run = async (name: string, bin: string, args: readonly string[], stdin?: string): Promise<void> =>
    void outcomes.set(name, await island.run(bin, args, stdin === undefined ? {} : { stdin }))
  for (const bin of LAUNCHERS) await run(`${bin} help`, bin, ['--help'])
  await run('init', 'heimdall-protocol', ['init'])
  await run('set F12', 'heimdall-resolve', ['set', 'F12', 'src/matching/engine.ts'])
  await run('set C3', 'heimdall-resolve', ['set', 'C3', 'balances sum to zero'])
  await run('F12', 'heimdall-resolve', ['F12'])
  await run('C3', 'heimdall-resolve', ['C3'])
  await run('reverse', 'heimdall-resolve', ['--reverse', 'src/matching/engine.ts'])
  await run('unknown symbol', 'heimdall-resolve', ['NOPE'])
  await run('set dev_port', 'heimdall-blackboard', ['set', 'dev_port', '5173'])
  await run('set node_version', 'heimdall-blackboard', ['set', 'node_version', '20.11.0'])
  await run('dev_port', 'heimdall-blackboard', ['get', 'dev_port'])
  await run('node_version', 'heimdall-blackboard', ['get', 'node_version'])
  await run('missing fact', 'heimdall-blackboard', ['get', 'missing_key'])
  const capsule = (id: string, ...rest: string[]): Promise<void> => run(id, 'heimdall-capsule', ['write', id, ...rest])
  await capsule(
    'wave1',
    '--what',
    'added LOB engine',
    '--where',
    'F12',
    '--decision',
    'serial-replay reference',
    '--gotcha',
    'seed must be fixed',
  )
  await capsule(
    'wave2',
    '--what',
    'added book diff',
    '--where',
    'F13',
    '--decision',
    'post-stream compare',
    '--depends',
    'wave1',
  )
  await capsule('wave3', '--what', 'unrelated docs', '--where', 'README')
  await run('hydrate', 'heimdall-capsule', ['hydrate', 'wave2'])
  await run('good', 'heimdall-validate', [], GOOD)
  await run('banana', 'heimdall-validate', [], '{"type":"task_result","from":"coder","msg_id":"m2","status":"banana"}')
  await run('truncated', 'heimdall-validate', [], TRUNCATED)
  await run('unknown type', 'heimdall-validate', [], '{"type":"frobnicate","from":"x","msg_id":"m3"}')
  await run('retry', 'heimdall-validate', ['--on-receipt'], `${TRUNCATED}\n${GOOD}\n`)
  await run('escalate', 'heimdall-validate', ['--on-receipt'], `${TRUNCATED}\n${TRUNCATED}\n`)
  island.write('PLAN-alpha.md', 'THE WHOLE PLAN, which no brief may carry\n')
  writeFileSync(join(island.root, 'INVARIANTS.md'), '# Invariants\n')
  await run('brief', 'heimdall-brief', [
    'build',
    '--task',
    '3.2',
    '--spec',
    'implement book diff',
    '--symbols',
    'F12,C3',
    '--capsules',
    'wave2',
    '--invariants',
    'INVARIANTS.md',
  ])
  await run('log 1', 'heimdall-ledger', ['log', '--role', 'orchestration', '--kind', 'brief', '--tokens', '12000'])
  await run('log 2', 'heimdall-ledger', ['log', '--role', 'coder', '--kind', 'task_result', '--tokens', '800'])
  await run('report', 'heimdall-ledger', ['report'])
  await run('baseline', 'heimdall-ledger', ['baseline', '--role', 'orchestration', '--tokens', '41000'])
  await run('delta', 'heimdall-ledger', ['delta', '--role', 'orchestration'])
  const report = {
    gate_id: 'exchange-lob',
    status: 'pass',
    first_divergence: null,
    metrics: { trades_compared: 3 },
    fix_hint: 'none',
    haid: 'haid:local',
    wave: null,
    ts: '2026-06-11T00:00:00Z',
  }
  const path = island.write('sample-report.json', JSON.stringify(report))
  await run('gate', 'heimdall-gate', ['to-message', '--report', path, '--from', 'sentinel-bloat', '--msg-id', 'g1'])
  await run('gate message', 'heimdall-validate', [], outcome('gate').stdout)
})

afterAll(() => island.remove())

describe('seed 000, the bins', () => {
  for (const [index, bin] of LAUNCHERS.entries())
    test(`case ${index + 1}: ${bin} is built and explains itself`, () => {
      expect(outcome(`${bin} help`)).toMatchObject({ code: 0, stderr: '' })
      expect(outcome(`${bin} help`).stdout).toContain(bin)
    })
  test('case 9: what the bins share is built', () => {
    expect(statSync('dist/cli.cjs').isFile()).toBe(true)
  })
})

describe('seed 000, layout', () => {
  test('case 10: init succeeds', () => expect(outcome('init').code).toBe(0))
  test('case 11: symbols.json is there', () => expect(island.has('protocol/symbols.json')).toBe(true))
  test('case 12: blackboard.json is there', () => expect(island.has('blackboard.json')).toBe(true))
  test('case 13: capsules is a folder', () =>
    expect(statSync(island.path('protocol/capsules')).isDirectory()).toBe(true))
  test('case 14: the message schema is installed', () =>
    expect(island.json('protocol/message-schema.json')['$id']).toBe(
      'https://heimdall/protocol/message-schema-2.1.0.json',
    ))
})

describe('seed 000, mechanism 2, symbols', () => {
  test('case 15: a path is set', () =>
    expect(outcome('set F12')).toMatchObject({ code: 0, stdout: 'F12 = src/matching/engine.ts\n' }))
  test('case 16: a criterion is set', () => expect(outcome('set C3').code).toBe(0))
  test('case 17: the path is found', () =>
    expect(outcome('F12')).toMatchObject({ code: 0, stdout: 'src/matching/engine.ts\n' }))
  test('case 18: the criterion is found', () => expect(outcome('C3').stdout).toBe('balances sum to zero\n'))
  test('case 19: the path leads back to its symbol', () =>
    expect(outcome('reverse')).toMatchObject({ code: 0, stdout: 'F12\n' }))
  test('case 20: an unknown symbol is an error', () =>
    expect(outcome('unknown symbol')).toMatchObject({ code: 1, stdout: '' }))
})

describe('seed 000, mechanism 5, blackboard', () => {
  test('case 21: dev_port is set', () =>
    expect(outcome('set dev_port')).toMatchObject({ code: 0, stdout: 'dev_port = 5173\n' }))
  test('case 22: node_version is set', () => expect(outcome('set node_version').code).toBe(0))
  test('case 23: dev_port is read', () => expect(outcome('dev_port')).toMatchObject({ code: 0, stdout: '5173\n' }))
  test('case 24: node_version is read', () => expect(outcome('node_version').stdout).toBe('20.11.0\n'))
  test('case 25: a missing fact is an error', () =>
    expect(outcome('missing fact')).toMatchObject({ code: 1, stdout: '' }))
})

describe('seed 000, mechanism 3, capsules', () => {
  test('case 26: wave1 is written', () => expect(outcome('wave1').code).toBe(0))
  test('case 27: wave2 is written on top of it', () => expect(outcome('wave2').code).toBe(0))
  test('case 28: wave3 is written beside them', () => expect(outcome('wave3').code).toBe(0))
  test('case 29: wave1 has at most ten lines', () =>
    expect(lines(island.read('protocol/capsules/wave1.md'))).toBeLessThanOrEqual(10))
  test('case 30: hydrating wave2 brings wave1', () => expect(outcome('hydrate').stdout).toContain('added LOB engine'))
  test('case 31: hydrating wave2 brings wave2', () => expect(outcome('hydrate').stdout).toContain('added book diff'))
  test('case 32: hydrating wave2 does not bring wave3', () =>
    expect(outcome('hydrate').stdout).not.toContain('unrelated docs'))
})

describe('seed 000, mechanism 1, messages', () => {
  test('case 33: a good task_result is accepted', () =>
    expect(outcome('good')).toMatchObject({ code: 0, stdout: '{"valid":true,"errors":[]}\n' }))
  test('case 34: a missing task and a status out of range are refused', () => {
    expect(outcome('banana').code).toBe(1)
    expect(JSON.parse(outcome('banana').stdout)).toEqual({
      valid: false,
      errors: [
        'task_result: missing required field: task',
        'task_result: status not in enum [pass,fail,partial]: banana',
      ],
    })
  })
  test('case 35: truncated JSON is refused', () => {
    expect(outcome('truncated').code).toBe(1)
    expect(outcome('truncated').stdout).toContain('unparseable JSON')
  })
  test('case 36: an unknown type is refused', () => {
    expect(outcome('unknown type').code).toBe(1)
    expect(outcome('unknown type').stdout).toContain('type not in enum: frobnicate')
  })
  test('case 37: on receipt, a malformed message gets one retry', () => {
    const { code, stdout, stderr } = outcome('retry')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ACCEPTED on retry (attempt 2)\n' })
    expect(stderr).toMatch(/INVALID \(attempt 1\): \[.*\]\n.*retry/)
  })
  test('case 38: on receipt, a second failure is escalated', () => {
    expect(outcome('escalate').code).toBe(1)
    expect(outcome('escalate').stderr).toContain('ESCALATE: ')
    expect(island.read('protocol.log')).toMatch(/\tvalidate\tescalate\tattempts=2\n/)
  })
})

describe('seed 000, mechanism 4, briefs', () => {
  test('case 39: the brief has the specification', () =>
    expect(outcome('brief').stdout).toContain('implement book diff'))
  test('case 40: the brief has the symbol', () => expect(outcome('brief').stdout).toContain('F12'))
  test('case 41: the brief has the capsule', () => expect(outcome('brief').stdout).toContain('wave2'))
  test('case 42: the brief resolves the symbol', () =>
    expect(outcome('brief').stdout).toContain('src/matching/engine.ts'))
  test('case 43: the brief does not carry the plan', () =>
    expect(outcome('brief').stdout).not.toContain('THE WHOLE PLAN'))
  test('case 44: the brief does not carry wave3', () => expect(outcome('brief').stdout).not.toContain('unrelated docs'))
})

describe('seed 000, mechanism 6, token ledger', () => {
  test('case 45: a cost is logged', () =>
    expect(outcome('log 1')).toMatchObject({ code: 0, stdout: 'logged orchestration/brief=12000\n' }))
  test('case 46: another cost is logged', () => expect(outcome('log 2').code).toBe(0))
  test('case 47: the ledger has two lines', () => expect(lines(island.read('protocol/ledger.jsonl'))).toBe(2))
  test('case 48: the report adds up', () =>
    expect(outcome('report')).toMatchObject({
      code: 0,
      stdout:
        'token ledger — per-role totals (all runs)\n  coder: 800 tokens (1 msgs)\n  orchestration: 12000 tokens (1 msgs)\n  TOTAL: 12800 tokens\n',
    }))
  test('case 49: a baseline is recorded', () =>
    expect(outcome('baseline')).toMatchObject({ code: 0, stdout: 'baseline orchestration = 41000 (v1)\n' }))
  test('case 50: the delta shows the baseline', () => expect(outcome('delta').stdout).toContain('41000'))
  test('case 51: the delta shows the cost', () =>
    expect(outcome('delta').stdout).toContain(
      '  orchestration: 41000 -> 12000 tokens (v1 baseline -> measured; -71%)\n',
    ))
})

describe('seed 000, gate adapter', () => {
  const message = (): Record<string, unknown> => JSON.parse(outcome('gate').stdout) as Record<string, unknown>
  test('case 52: the message is valid', () =>
    expect(outcome('gate message')).toMatchObject({ code: 0, stdout: '{"valid":true,"errors":[]}\n' }))
  test('case 53: the gate is named', () => expect(message()['gate_id']).toBe('exchange-lob'))
  test('case 54: the status is carried', () => expect(message()['status']).toBe('pass'))
  test('case 55: the metrics stay in the report', () => {
    expect(Object.keys(message())).toEqual(['type', 'from', 'msg_id', 'ts', 'gate_id', 'status', 'report_ref'])
    expect(message()['report_ref']).toBe('.planning/sample-report.json')
  })
})
