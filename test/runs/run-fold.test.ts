// The record is the state: its fold against an independent script, checkpoints of every kind, reboots, and lines that no shim has written.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bootId } from '../../src/boot-id.ts'
import { systemClock } from '../../src/clock.ts'
import { decisionBody, decisionEvent, EventText } from '../../src/events/event-text.ts'
import { PREVIEW_NONE } from '../../src/events/preview.ts'
import type { RunIdentity } from '../../src/events/types.ts'
import { CHECKPOINT_EVERY_BYTES } from '../../src/limits.ts'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { countedAtEnd, countedBy } from '../../src/policy/decide/counted.ts'
import { decide } from '../../src/policy/decide/decide.ts'
import { openPolicy, type Policy } from '../../src/policy/decide/plan.ts'
import { checkpointPath } from '../../src/runs/checkpoint.ts'
import { questionId, type Request } from '../../src/runs/approvals.ts'
import { answerRequest, openRequests } from '../../src/runs/questions.ts'
import { readFold } from '../../src/runs/read-fold.ts'
import type { RunFold } from '../../src/runs/run-fold.ts'
import { recordPath, RunLog } from '../../src/runs/run-log.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { bundle, type Json, rule, tool } from '../support/shim-client.ts'

const identity: RunIdentity = {
  run_id: 'r',
  agent_id: 'a',
  client: 'custom',
  env: 'dev',
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
}
const HOUR = 3_600_000
const START = {
  started_at: '2026-01-02T03:04:05.000Z',
  mode: 'guardrails',
  policy: { policy_id: 'p', policy_version: '1', policy_hash: 'none' },
} as const

/** mulberry32: the same history for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

async function policyOf(...rules: readonly object[]): Promise<Policy> {
  const snapshot = await compileBundle(JSON.stringify(bundle(rules)), { name: 'test' })
  return openPolicy(snapshot, { env: 'dev', agent_id: 'a', client: 'custom' })
}

const RULES = [
  rule('few', 'budget', {}, { budget: { scope: 'run', limit_calls: 25, on_exceed: 'BLOCK' } }),
  rule('cost', 'budget', tool('b*'), {
    budget: { scope: 'tool', limit_cost_units: 40, cost_units_per_call: 3, on_exceed: 'BLOCK' },
  }),
  rule('both', 'budget', tool('c'), {
    budget: { scope: 'server_tool', limit_calls: 9, limit_cost_units: 20, cost_units_per_call: 2, on_exceed: 'BLOCK' },
  }),
  rule('pace', 'rate_limit', tool('a', 'b1'), {
    rate_limit: {
      scope: 'run',
      capacity: 5,
      refill_tokens: 1,
      refill_period_ms: 50,
      on_limit: 'THROTTLE',
      backoff_ms: 1,
    },
  }),
  rule('once', 'dedupe', tool('c'), { dedupe: { scope: 'tool', window_ms: 400, on_duplicate: 'BLOCK' } }),
  rule(
    'loop',
    'breaker',
    {},
    {
      breaker: {
        scope: 'tool',
        error_threshold: 4,
        window_ms: 500,
        repeat_threshold: 6,
        repeat_window_ms: 500,
        on_trip: 'BLOCK',
      },
    },
  ),
]

interface Now {
  readonly bootId: string
  readonly monoMs: number
}

/** A shim of the run: decides under the record's lock, as the shims do. */
class Member {
  readonly log: RunLog
  readonly text: EventText
  readonly name: string
  calls = 0

  constructor(runDir: string, name: string) {
    this.name = name
    this.text = new EventText({ ...identity, source: { ...identity.source, shim_id: name } }, () => 0)
    this.log = new RunLog(runDir, () => this.text.lines.events)
    onTestFinished(() => this.log.close())
  }

  write(put: (fold: RunFold) => void): void {
    this.log.locked((fold) => {
      put(fold)
      this.log.append(this.text.lines, true)
    })
    this.text.lines.clear()
  }

  start(): void {
    this.log.locked((fold) => {
      this.text.runStart({ ...START, segment: fold.totals.segment + 1 }, undefined, { mono_ms: 0, boot_id: 'one' })
      this.log.append(this.text.lines)
    })
    this.text.lines.clear()
  }

  /** Returns the action; the call ends as `status` says. */
  call(policy: Policy, name: string, args: number, now: Now, status: 'OK' | 'ERROR' | 'open' = 'OK'): string {
    const { text } = this
    let action = ''
    const moment = { mono_ms: now.monoMs, boot_id: now.bootId }
    this.write((fold) => {
      fold.moveTo(now)
      const args_hash = args.toString(16).padStart(64, '0')
      const verdict = decide(policy.planFor('s', name), { args: {}, args_hash, wallMs: 0 }, fold, now.monoMs)
      const { decision } = verdict
      action = decision.action
      const names = { call_id: `${this.name}-${(this.calls += 1)}`, server_name: 's', tool_name: name, args_hash }
      text.callStart(names, { transport: 'mcp_stdio', bytesIn: 1, tags: [] }, PREVIEW_NONE)
      const counted = { counters: countedBy(verdict), ...moment }
      fold.count(text.decision(decisionBody(names, decisionEvent(decision, START.policy), counted)))
      if (status === 'open') return
      const counters =
        verdict.end === null ? [] : countedAtEnd(verdict.end, status === 'OK' ? 'done' : 'failed', fold, now.monoMs)
      const end = { status: action === 'ALLOW' ? status : 'ERROR', latencyMs: 0, bytesOut: 0 } as const
      const counts = counters.length === 0 ? undefined : { counters, ...moment }
      const ended = text.callEnd(names, end, PREVIEW_NONE, counts)
      if (counts !== undefined) fold.count(ended)
    })
    return action
  }
}

/** What commands say of the fold, in the words of the script. */
function told(fold: RunFold): object {
  const { segment, hasEnded, counts } = fold.totals
  const budgets: Record<string, object> = {}
  const { cells } = fold.saved()
  for (const [id, [calls, cost_units]] of cells) if (id.startsWith('budget ')) budgets[id] = { calls, cost_units }
  return { segment, ended: hasEnded, totals: counts, last: fold.lastNumber, budgets }
}

/** A budget with one limit is told of by one reading; what the other number would be is the fold's alone. */
function onlyTold(ours: Json, theirs: Json): Json {
  const budgets: Record<string, object> = {}
  for (const [key, sums] of Object.entries(theirs['budgets'] as Record<string, Record<string, number>>)) {
    const mine = ours['budgets'][key] as Record<string, number> | undefined
    budgets[key] = Object.fromEntries(
      Object.entries(sums).map(([name, n]) => [name, n === 0 ? 0 : (mine?.[name] ?? -1)]),
    )
  }
  return { ...ours, budgets }
}

/** Cells stand in the order in which they came. */
function inOrder(fold: RunFold | undefined): object {
  const saved = fold?.saved()
  return { ...saved, cells: saved?.cells.toSorted(([a], [b]) => (a < b ? -1 : 1)) }
}

const FOREIGN = [
  'garbage',
  '',
  '[1]',
  'null',
  '{"no":"type"}',
  '{"type":"from_the_future","call":{"call_id":"x","seq":3},"decision":{"action":"ALLOW"}}',
  '{"type":"tool_call_decision","decision":{"action":"ALLOW","counters":[{"counter":"calls","key":"x","before":0,"after":9}]}}',
  '{"type":"tool_call_end","status":"ERROR"}',
  '{"type":"tool_call_decision","call":{"call_id":"torn","seq":99',
]

test('an independent script makes of every record the totals, numbers and budgets that the fold makes', async () => {
  const policy = await policyOf(...RULES)
  const runs: string[] = []
  for (let seed = 1; seed <= scaled(40, 2_000); seed += 1) {
    const random = chance(seed)
    const runDir = temporaryFolder()
    const path = recordPath(runDir)
    const members = [new Member(runDir, 'm0'), new Member(runDir, 'm1')]
    const now = { bootId: 'one', monoMs: 10_000 }
    members[0]?.start()
    for (let step = 0; step < 40; step += 1) {
      now.monoMs += random(40)
      const member = members[random(members.length)] as Member
      const what = random(20)
      if (what < 14) {
        const name = ['a', 'b1', 'b2', 'c'][random(4)] ?? 'a'
        member.call(policy, name, random(3), now, (['OK', 'OK', 'ERROR', 'open'] as const)[random(4)])
      } else if (what === 14) fs.appendFileSync(path, `${FOREIGN[random(FOREIGN.length)]}\n`)
      else if (what === 15) fs.appendFileSync(path, (FOREIGN[random(FOREIGN.length)] ?? '').slice(0, random(40)))
      else if (what === 16) {
        // A piece of the record once more, whole lines in another order.
        const lines = fs.readFileSync(path, 'utf8').split('\n').slice(-6, -1)
        fs.appendFileSync(
          path,
          `${lines
            .filter((line) => !line.includes('run_'))
            .toReversed()
            .join('\n')}\n`,
        )
      } else if (what === 17) Object.assign(now, { bootId: `boot ${step}`, monoMs: random(1_000) })
      else if (what === 18) {
        member.text.runEnd('SUCCEEDED', START.started_at, 1, {
          calls_total: 0,
          calls_allowed: 0,
          calls_blocked: 0,
          calls_throttled: 0,
          errors_total: 0,
          duration_ms: 0,
        })
        member.write(() => undefined)
        member.start()
      } else members.push(new Member(runDir, `m${members.length}`))
      if (random(6) === 0) member.log.locked(() => member.log.checkpoint())
    }
    members[0]?.log.locked(() => undefined)
    runs.push(runDir)
    // The fold that was kept up to date, the one from a checkpoint and the one from the record alone are one.
    const kept = inOrder(members[0]?.log.fold)
    expect(inOrder(readFold(runDir)), `seed ${seed}`).toEqual(kept)
    fs.rmSync(checkpointPath(runDir), { force: true })
    expect(inOrder(readFold(runDir)), `seed ${seed}`).toEqual(kept)
  }
  const script = join(import.meta.dirname, 'fold.py')
  const printed = execFileSync('python3', [script, ...runs.map(recordPath)], { encoding: 'utf8', maxBuffer: 1 << 28 })
  const theirs = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const [i, runDir] of runs.entries()) {
    const script = theirs[i] ?? {}
    expect(onlyTold(told(readFold(runDir)), script), `seed ${i + 1}`).toEqual(script)
  }
})

describe('a checkpoint', () => {
  /** A run with a budget of 10, of which 6 are spent, and its checkpoint. */
  async function spent(): Promise<{ runDir: string; policy: Policy; left: () => number }> {
    const policy = await policyOf(rule('few', 'budget', {}, { budget: { limit_calls: 10, on_exceed: 'BLOCK' } }))
    const runDir = join(temporaryFolder(), 'r')
    const member = new Member(runDir, 'm')
    member.start()
    for (let n = 0; n < 4; n += 1) member.call(policy, 'a', n, { bootId: 'one', monoMs: n })
    member.log.locked(() => member.log.checkpoint())
    for (let n = 4; n < 6; n += 1) member.call(policy, 'a', n, { bootId: 'one', monoMs: n })
    const left = (): number => {
      const late = new Member(runDir, 'late')
      let passed = 0
      while (late.call(policy, 'a', 0, { bootId: 'one', monoMs: 100 }) === 'ALLOW') passed += 1
      return passed
    }
    return { runDir, policy, left }
  }

  const edited = (runDir: string, edit: (head: Record<string, unknown>, body: Json) => void): void => {
    const [first = '', second = ''] = fs.readFileSync(checkpointPath(runDir), 'utf8').split('\n')
    const head = JSON.parse(first) as Record<string, unknown>
    const body = JSON.parse(second) as Record<string, unknown>
    edit(head, body)
    fs.writeFileSync(checkpointPath(runDir), `${JSON.stringify(head)}\n${JSON.stringify(body)}\n`)
  }

  test.each<[string, (runDir: string) => void]>([
    ['as it was written', () => undefined],
    ['that is gone', (runDir) => fs.rmSync(checkpointPath(runDir))],
    ['that is empty', (runDir) => fs.truncateSync(checkpointPath(runDir), 0)],
    ['that is torn', (runDir) => fs.truncateSync(checkpointPath(runDir), 300)],
    ['that was edited', (runDir) => edited(runDir, (_, body) => (body['cells'][0][1][0] = 0))],
    ['of a newer version', (runDir) => edited(runDir, (head) => (head['v'] = 2))],
    ['of more than the record holds', (runDir) => edited(runDir, (head) => (head['bytes'] = 1 << 30))],
    ['of another place in the record', (runDir) => edited(runDir, (head) => (head['bytes'] = 900))],
    ['of fewer bytes than none', (runDir) => edited(runDir, (head) => (head['bytes'] = -1))],
    ['of a run of another name', (runDir) => edited(runDir, (head) => (head['run'] = 'other'))],
  ])('%s: what was spent stays spent', async (_, damage) => {
    const { runDir, left } = await spent()
    damage(runDir)
    expect(left()).toBe(4)
  })

  test('of another run under the same name is not used', async () => {
    const [one, other] = [await spent(), await spent()]
    expect(one.left()).toBe(4)
    fs.copyFileSync(checkpointPath(one.runDir), checkpointPath(other.runDir))
    const started = fs.readFileSync(recordPath(other.runDir), 'utf8').split('\n')[0]
    fs.writeFileSync(recordPath(other.runDir), `${started}\n${'{"type":"x"}\n'.repeat(2_000)}`)
    expect(other.left()).toBe(10)
  })

  test('is written as the record grows, and is never far behind', async () => {
    const policy = await policyOf()
    const runDir = join(temporaryFolder(), 'r')
    const members = [new Member(runDir, 'a'), new Member(runDir, 'b')]
    members[0]?.start()
    let behind = 0
    for (let n = 0; n < 1_200; n += 1) {
      members[n % 2]?.call(policy, 'a', n, { bootId: 'one', monoMs: n })
      const [head = '{}'] = fs.existsSync(checkpointPath(runDir))
        ? fs.readFileSync(checkpointPath(runDir), 'utf8').split('\n')
        : []
      const { bytes = 0 } = JSON.parse(head) as { bytes?: number }
      behind = Math.max(behind, fs.statSync(recordPath(runDir)).size - bytes)
    }
    expect(behind).toBeGreaterThan(CHECKPOINT_EVERY_BYTES / 2)
    expect(behind).toBeLessThan(2 * CHECKPOINT_EVERY_BYTES)
  })
})

describe('a reboot', () => {
  test('frees nothing: what was spent stays, and windows and buckets go on from where they were', async () => {
    const policy = await policyOf(
      rule('once', 'dedupe', tool('write'), { dedupe: { scope: 'tool', window_ms: HOUR, on_duplicate: 'BLOCK' } }),
      rule('pace', 'rate_limit', tool('read'), {
        rate_limit: { scope: 'run', capacity: 2, refill_tokens: 2, refill_period_ms: 1_500, on_limit: 'BLOCK' },
      }),
      rule('few', 'budget', tool('spend'), { budget: { scope: 'run', limit_calls: 2, on_exceed: 'BLOCK' } }),
    )
    const runDir = temporaryFolder()
    const boot = (bootId: string, startMs: number): ((name: string, atMs: number) => string) => {
      const member = new Member(runDir, bootId)
      return (name, atMs) => member.call(policy, name, 1, { bootId, monoMs: startMs + atMs })
    }
    const first = boot('one', 10 * 24 * HOUR)
    for (const name of ['write', 'read', 'read', 'spend']) expect(first(name, 0)).toBe('ALLOW')
    expect(first('read', 1)).toBe('BLOCK')
    // The clock begins at nearly nothing, far before all that was recorded.
    const second = boot('two', 5_000)
    for (const name of ['write', 'read']) expect(second(name, 1)).toBe('BLOCK')
    expect([second('spend', 1), second('spend', 1)]).toEqual(['ALLOW', 'BLOCK'])
    // Held for no longer than their own length.
    expect(second('read', 1_502)).toBe('ALLOW')
    expect([second('write', HOUR - 1), second('write', HOUR + 2)]).toEqual(['BLOCK', 'ALLOW'])
    // The same boot again moves nothing.
    const again = boot('two', 5_000 + HOUR + 3)
    expect([again('write', HOUR - 3), again('spend', 0)]).toEqual(['BLOCK', 'BLOCK'])
  })

  test('a line of an earlier boot that comes late is counted in its time', async () => {
    const policy = await policyOf(
      rule('once', 'dedupe', tool('write'), { dedupe: { scope: 'tool', window_ms: 100, on_duplicate: 'BLOCK' } }),
    )
    const runDir = temporaryFolder()
    const member = new Member(runDir, 'm')
    for (const [bootId, monoMs] of [
      ['one', 9_000],
      ['two', 50],
    ] as const)
      member.call(policy, 'other', 1, { bootId, monoMs })
    // Written by the boot before, and found behind a line of this one.
    const lines = fs.readFileSync(recordPath(runDir), 'utf8').split('\n')
    const late = new Member(temporaryFolder(), 'late')
    late.call(policy, 'write', 7, { bootId: 'one', monoMs: 8_990 })
    const written = fs.readFileSync(late.log.path, 'utf8').replaceAll('"seq":1', '"seq":3')
    fs.writeFileSync(recordPath(runDir), `${lines.join('\n')}${written}`)
    const reader = new Member(runDir, 'reader')
    expect(reader.call(policy, 'write', 7, { bootId: 'two', monoMs: 139 })).toBe('BLOCK')
    expect(reader.call(policy, 'write', 7, { bootId: 'two', monoMs: 141 })).toBe('ALLOW')
  })
})

test('every one of seventy budgets is counted, by two shims together (seed 004 §2.3)', async () => {
  const budgets = Array.from({ length: 70 }, (_, n) =>
    rule(`budget-${n}`, 'budget', {}, { budget: { scope: 'run', limit_calls: 72 - n, on_exceed: 'BLOCK' } }),
  )
  const policy = await policyOf(...budgets)
  const runDir = temporaryFolder()
  const [one, other] = [new Member(runDir, 'one'), new Member(runDir, 'other')]
  const now = { bootId: 'b', monoMs: 1 }
  expect([one, other, one, other].map((member) => member.call(policy, 'a', 0, now))).toEqual([
    'ALLOW',
    'ALLOW',
    'ALLOW',
    'BLOCK',
  ])
})

test('a budget that a human has raised allows so many more calls', async () => {
  const policy = await policyOf(rule('few', 'budget', {}, { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }))
  const runDir = temporaryFolder()
  const member = new Member(runDir, 'm')
  const now = { bootId: 'b', monoMs: 1 }
  const called = (): string => member.call(policy, 'a', 0, now)
  expect([called(), called(), called()]).toEqual(['ALLOW', 'ALLOW', 'BLOCK'])
  const key = member.log.fold.saved().cells[0]?.[0]
  fs.appendFileSync(recordPath(runDir), `{"type":"budget_raised","budget":{"key":${JSON.stringify(key)},"calls":1}}\n`)
  expect([called(), called()]).toEqual(['ALLOW', 'BLOCK'])
})

test('a line that takes back what was spent is no line of ours', async () => {
  const policy = await policyOf(rule('few', 'budget', {}, { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }))
  const runDir = temporaryFolder()
  const member = new Member(runDir, 'm')
  const now = { bootId: 'b', monoMs: 1 }
  for (let n = 0; n < 2; n += 1) member.call(policy, 'a', 0, now)
  const [, decision = ''] = fs.readFileSync(recordPath(runDir), 'utf8').split('\n')
  const forged = decision.replace('"seq":1', '"seq":3').replace('"before":0,"after":1', '"before":2,"after":0')
  expect(forged).toContain('"before":2,"after":0')
  fs.appendFileSync(recordPath(runDir), `${forged}\n`)
  expect(member.call(policy, 'a', 0, now)).toBe('BLOCK')
})

test('what was written cannot be taken back, nor what was read after it', async () => {
  const policy = await policyOf(rule('few', 'budget', {}, { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }))
  const runDir = temporaryFolder()
  const [one, other] = [new Member(runDir, 'one'), new Member(runDir, 'other')]
  const now = { bootId: 'b', monoMs: 1 }
  one.log.locked((fold) => fold.mark())
  for (const member of [one, other]) member.call(policy, 'a', 0, now)
  one.log.refresh()
  one.log.fold.undo()
  expect(one.call(policy, 'a', 0, now)).toBe('BLOCK')
})

test('a record whose folder cannot be opened again leaves files of others open', () => {
  const runDir = join(temporaryFolder(), 'r')
  const log = new RunLog(runDir)
  fs.rmSync(recordPath(runDir))
  fs.mkdirSync(recordPath(runDir))
  expect(() => log.locked(() => undefined)).toThrow()
  const other = fs.openSync('/dev/null', 'r')
  fs.rmdirSync(recordPath(runDir))
  expect(log.locked(() => log.bytes)).toBe(0)
  log.close()
  expect(fs.fstatSync(other).isCharacterDevice()).toBe(true)
  fs.closeSync(other)
})

test.each([2 ** 53, Number.MAX_SAFE_INTEGER, 2 ** 40, 1.5])(
  'a call number %d in a line of the record does not stop the numbering',
  async (seq) => {
    const policy = await policyOf(rule('few', 'budget', {}, { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }))
    const runDir = temporaryFolder()
    const member = new Member(runDir, 'm')
    const forged = `{"type":"tool_call_start","call":{"call_id":"x","seq":${seq}}}\n`
    fs.appendFileSync(recordPath(runDir), forged.repeat(2))
    const now = { bootId: 'b', monoMs: 1 }
    for (let n = 0; n < 3; n += 1) member.call(policy, 'a', n, now)
    expect(member.log.fold.lastNumber).toBe(3)
    expect(new Member(runDir, 'late').call(policy, 'a', 0, now)).toBe('BLOCK')
    expect(readFold(runDir).totals.counts).toMatchObject({ total: 4, allowed: 2, blocked: 2 })
  },
)

test.each([
  [bootId(), 1e15],
  ['another boot', 1e300],
  ['another boot', -1e300],
])('a line of boot %s at %d ms expires no window', async (boot_id, mono_ms) => {
  const policy = await policyOf(
    rule('once', 'dedupe', tool('write'), { dedupe: { scope: 'tool', window_ms: HOUR, on_duplicate: 'BLOCK' } }),
  )
  const runDir = temporaryFolder()
  const now = { bootId: bootId(), monoMs: Math.floor(systemClock.monoMs()) }
  expect(new Member(runDir, 'm').call(policy, 'write', 1, now)).toBe('ALLOW')
  const call = { call_id: 'x', seq: 2 }
  const line = { type: 'tool_call_decision', call, decision: { action: 'ALLOW', counters: [] }, mono_ms, boot_id }
  fs.appendFileSync(recordPath(runDir), `${JSON.stringify(line)}\n`)
  const reader = new Member(runDir, 'reader')
  reader.log.locked(() => reader.log.checkpoint())
  expect(new Member(runDir, 'late').call(policy, 'write', 1, { ...now, monoMs: now.monoMs + 1 })).toBe('BLOCK')
})

test('an answer for once is used up by the decision that goes by it, for every shim of the run', () => {
  const runDir = temporaryFolder()
  const [one, other] = [new Member(runDir, 'one'), new Member(runDir, 'other')]
  const asking = { ruleId: 'ask', ruleHash: 'h' }
  const call = { serverName: 's', toolName: 'write', argsHash: 'f' }
  const id = questionId('r', asking, call)
  const names = { call_id: 'c', server_name: 's', tool_name: 'write', args_hash: 'f' }
  const now = { bootId: 'b', monoMs: 1 }
  const put = { id, rule_id: 'ask', rule_hash: 'h', question: '?', wait_ms: 0, args_hash: 'f', args_preview: '{}' }
  one.write((fold) => fold.count(one.text.approvalRequested(names, put)))
  const { question: _, wait_ms: __, args_hash: ___, args_preview: ____, ...about } = put
  one.write((fold) =>
    fold.count(one.text.approvalDecided({ ...about, answer: 'allow', decided_by: 'p', lasts: 'once', scope: 'call' })),
  )
  const found = (member: Member): string | undefined =>
    member.log.locked((fold) => fold.approvals.find([asking], call, now).ids.get('ask'))
  expect([found(one), found(other)]).toEqual([id, id])
  const decision = {
    action: 'ALLOW',
    rule_id: 'ask',
    severity: 'info',
    reason_code: 'APPROVED',
    summary: '',
    enforced: true,
  } as const
  const body = decisionBody(
    names,
    decisionEvent(decision, START.policy),
    { counters: [], mono_ms: 1, boot_id: 'b' },
    id,
  )
  other.write((fold) => {
    other.text.callStart(names, { transport: 'mcp_stdio', bytesIn: 1, tags: [] }, PREVIEW_NONE)
    fold.count(other.text.decision(body))
  })
  expect([found(one), found(other)]).toEqual([undefined, undefined])
  expect(readFold(runDir).approvals.questions).toMatchObject([{ id, answer: 'allow', answered_by: 'p', lasts: 'once' }])
})

test('of two answers "once" to one question the first counts, and an answer to a question that does not wait for one is refused', async () => {
  const runDir = temporaryFolder()
  const member = new Member(runDir, 'm')
  const asking = { ruleId: 'ask', ruleHash: 'h' }
  const call = { serverName: 's', toolName: 'write', argsHash: 'f' }
  const id = questionId('r', asking, call)
  const names = { call_id: 'c', server_name: 's', tool_name: 'write', args_hash: 'f' }
  const put = { id, rule_id: 'ask', rule_hash: 'h', question: '?', wait_ms: 0, args_hash: 'f', args_preview: '{}' }
  member.write((fold) => fold.count(member.text.approvalRequested(names, put)))
  const [request] = openRequests(runDir)
  if (request === undefined) throw new Error('no question is open')
  const answer = (by: string): Promise<Request> =>
    answerRequest(
      { folder: runDir, request },
      { answer: 'allow', by, lasts: { kind: 'once' }, ofRule: false },
      systemClock,
    )
  expect(await answer('first')).toMatchObject({ answer: 'allow', answered_by: 'first' })
  const record = fs.readFileSync(recordPath(runDir), 'utf8')
  await expect(answer('second')).rejects.toMatchObject({
    code: 'APPROVAL_NOT_FOUND',
    message: `question ${id} was already answered (allow) by first`,
  })
  expect(fs.readFileSync(recordPath(runDir), 'utf8')).toBe(record)

  // The same line twice, as two processes may have written it.
  const line = record.split('\n').find((one) => one.includes('"approval_decided"')) ?? ''
  fs.appendFileSync(recordPath(runDir), `${line.replace('"first"', '"second"')}\n`)
  expect(readFold(runDir).saved().answers).toHaveLength(1)

  member.write((fold) => fold.count(member.text.approvalWithdrawn({ id, rule_id: 'ask' })))
  await expect(answer('third')).rejects.toMatchObject({ message: `question ${id} was withdrawn` })

  member.write((fold) => fold.count(member.text.approvalRequested(names, put)))
  fs.appendFileSync(recordPath(runDir), `${JSON.stringify({ type: 'run_end' })}\n`)
  await expect(answer('fourth')).rejects.toMatchObject({ message: `question ${id} was closed when its run ended` })
})
