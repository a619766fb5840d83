// heimdall policy replay over records of real shims: under the policy that recorded a run it says the same, under another one what differs, and where the record is silent it says so (seed 004 §1.9, §2.3).
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle as randomBundle } from '../support/random-policy.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'
import {
  bundle,
  deny,
  eventsOfRun,
  type Json,
  ofType,
  rule,
  runsDir,
  type ShimClient,
  startShim,
  tool,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const HOUR_MS = 3_600_000

async function replay(home: string, policy: object, ...words: string[]): Promise<Json> {
  const path = join(temporaryFolder(), 'policy.json')
  writeFileSync(path, JSON.stringify(policy))
  const { stdout, stderr } = await runLauncher('heimdall', ['policy', 'replay', path, '--json', ...words], {
    env: { HOME: home },
  })
  const answer = JSON.parse(stdout === '' ? stderr : stdout) as Json
  if (answer['ok'] !== true) throw new Error(stdout + stderr)
  return answer['data'] as Json
}

const DECIDED_OTHERWISE = { stricter: 0, looser: 0, other: 0 }

/** Answered, and its end is in the record: the next call of another shim stands behind it. */
async function callOf(shim: ShimClient, runId: string, name: string, args: object): Promise<Json> {
  const answer = await shim.call(name, args)
  await until('the end of the call in the record', () => {
    const events = eventsOfRun(shim.home, runId)
    return ofType(events, 'tool_call_end').length === ofType(events, 'tool_call_start').length ? true : undefined
  })
  return answer
}

/** Times of random policies are a few milliseconds; a real clock needs windows that nothing ends by chance. */
function withLongTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withLongTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      if (key === 'time') return []
      const isWindow = /^(window_ms|repeat_window_ms|refill_period_ms)$/.test(key)
      return [[key, isWindow ? Number(one) * HOUR_MS : withLongTimes(one)]]
    }),
  )
}

const randomCalls = fc.array(
  fc.record({
    server: fc.nat(1),
    name: fc.constantFrom('read', 'write', 'write_all', 'a/b', 'fail', 'tool_error'),
    args: fc.constantFrom<object>(
      {},
      { force: true },
      { force: false, n: 1 },
      { n: 2 },
      { n: 2 },
      { Force: true },
      // Redacted in the record, so that nobody can look into it afterwards.
      { n: 1, password: 'correct horse' },
    ),
  }),
  { minLength: 12, maxLength: 24, size: 'max' },
)

describe('the policy that recorded a run decides it the same', () => {
  test('random policies of all kinds, two shims of one run', { timeout: 120_000 }, () =>
    withSeed(async (_random, seed) => {
      const rounds = fc.sample(fc.tuple(randomBundle, randomCalls), { seed, numRuns: scaled(2, 150) })
      for (const [random, calls] of rounds) {
        const policy = withLongTimes(random) as object
        const home = temporaryFolder()
        const env = { SUB_RUN_ID: 'random' }
        const shims = ['git', 'fs'].map((name) => startShim({ policy, name, home, env, bin: 'heimdall' }))
        for (const { server, name, args } of calls) {
          const answer = await callOf(shims[server] as ShimClient, 'random', name, args)
          // The other shim hears of it when it hears of it.
          if (answer['error']?.code === -32_084) break
        }
        for (const shim of shims) await shim.end()
        const data = await replay(home, policy, '--run', 'random')
        expect(data, JSON.stringify(policy)).toMatchObject({ calls: DECIDED_OTHERWISE, set_aside: { unreadable: 0 } })
        // What is said to be possible holds what was.
        for (const { recorded, possible, why } of data['rows'] as Json[]) {
          if ((why as string[]).some((one) => one !== 'arguments')) continue
          const was = [recorded.action, recorded.rule_id, recorded.reason_code]
          expect(possible.map((one: Json) => [one['action'], one['rule_id'], one['reason_code']])).toContainEqual(was)
        }
      }
    }),
  )

  test('tags, hours, paths, annotations, selectors, other requests, ambiguous and oversized arguments', async () => {
    const hour = new Date().getUTCHours()
    const policy = bundle(
      [
        rule('no-secrets', 'deny', { args: { path_outside: ['src'] } }, { action: 'BLOCK' }),
        deny('by-night', { time: { utc_hours: [{ start: (hour + 6) % 24, end: (hour + 8) % 24 }] } }),
        rule('loud', 'tag', { args: { has_keys: ['loud'] } }, { tag: { add_risk_class: ['loud'] } }),
        deny('no-loud', { risk_class: ['loud'] }),
        rule('reads', 'allow', { annotations: { read_only: true } }, {}),
        deny('resources', { method: ['resources/*'], args: { at: { uri: { glob: ['*secret*'] } } } }),
        rule('few', 'budget', tool('write*'), { budget: { limit_calls: 2, on_exceed: 'BLOCK' } }),
      ],
      { trust_annotations: ['fs'], selectors: { agent_id: ['amber'] }, defaults: { decision_on_no_match: 'BLOCK' } },
    )
    const tools = { tools: [{ name: 'peek', annotations: { readOnlyHint: true } }, { name: 'poke' }] }
    const shim = startShim({
      policy,
      name: 'fs',
      bin: 'heimdall',
      env: { SUB_RUN_ID: 'all', SUB_AGENT_ID: 'amber', FAKE_TOOLS: JSON.stringify(tools.tools) },
    })
    shim.send({ jsonrpc: '2.0', id: 'list', method: 'tools/list' })
    await shim.answer('list')
    await shim.call('peek', { path: 'src/a' })
    await shim.call('peek', { path: '../etc' })
    await shim.call('poke', { a: 1 })
    await shim.call('poke', { loud: 1 })
    await shim.call('write', {})
    shim.send({ jsonrpc: '2.0', id: 'r', method: 'resources/read', params: { uri: 'file:///secret' } })
    await shim.answer('r')
    shim.send('{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"peek","arguments":{"a":1,"a":2}}}')
    await shim.answer('twice')
    shim.send('{"jsonrpc":"2.0","id":"malformed","method":"tools/call","params":{"name":"peek","arguments":[1]}}')
    await shim.answer('malformed')
    await shim.call('peek', { text: 'x'.repeat(1 << 21) })
    await shim.end()
    const list = join(temporaryFolder(), 'tools.json')
    writeFileSync(list, JSON.stringify({ jsonrpc: '2.0', id: 1, result: tools }))
    const known = await replay(
      shim.home,
      policy,
      '--run',
      'all',
      '--tools',
      `fs=${list}`,
      '--paths-as-written',
      '--all',
    )
    expect(known['calls']).toEqual({ total: 9, same: 9, undecidable: 0, ...DECIDED_OTHERWISE })
    // Without what the record does not have, those calls are undecidable, and no others.
    const unknown = await replay(shim.home, policy, '--run', 'all')
    expect(unknown['calls']).toMatchObject({ total: 9, ...DECIDED_OTHERWISE })
    expect(unknown['undecidable']).toMatchObject({ paths: 2, arguments: 0, counters: 0 })
    expect((unknown['rows'] as Json[]).map((row) => [row['tool_name'], row['why']])).toEqual([
      ['peek', ['annotations', 'paths']],
      ['peek', ['annotations', 'paths']],
      ['poke', ['annotations']],
      ['write', ['annotations']],
    ])
  })

  test('questions to a person: held and answered, denied, for once, for the rule, and open', async () => {
    const ask = rule('ask', 'deny', tool('write*'), { action: 'ASK', message: 'asked', ask: { wait_ms: 0 } })
    const policy = bundle([ask, rule('few', 'budget', {}, { budget: { limit_calls: 5, on_exceed: 'BLOCK' } })])
    const shim = startShim({ policy, bin: 'heimdall', env: { SUB_RUN_ID: 'asked' } })
    const answered = async (args: { readonly a: number }, ...words: string[]): Promise<void> => {
      await shim.call('write', args)
      const { stdout } = await runLauncher('heimdall', ['approve', '--json'], {
        env: { HOME: shim.home },
      })
      const asked = (JSON.parse(stdout) as Json)['data'].requests as Json[]
      const request = asked.find((one) => String(one['args_preview']).endsWith(`\na: ${args.a}`))
      const command = [...launcher('heimdall'), words[0] ?? '', String(request?.['id']), ...words.slice(1)]
      const terminal = ownTerminal(command, { cwd: shim.home, env: { HOME: shim.home } })
      expect(await terminal.ended, terminal.written()).toBe(0)
    }
    await answered({ a: 1 }, 'approve')
    await shim.call('write', { a: 1 })
    await shim.call('write', { a: 1 })
    await answered({ a: 2 }, 'deny')
    await shim.call('write', { a: 2 })
    await answered({ a: 3 }, 'approve', '--rule', '--run')
    for (let i = 0; i < 6; i += 1) await shim.call('write', { i })
    await shim.end()
    const data = await replay(shim.home, policy, '--run', 'asked', '--all')
    expect(data['calls']).toMatchObject({ undecidable: 0, ...DECIDED_OTHERWISE })
    const reasons = (data['rows'] as Json[]).map((row) => row['replayed'].reason_code as string)
    expect(new Set(reasons)).toEqual(new Set(['APPROVAL_REQUIRED', 'APPROVED', 'APPROVAL_DENIED', 'BUDGET_EXCEEDED']))
    // An answer is one for the rule as it stood: another text asks anew.
    const reworded = bundle([{ ...ask, severity: 'critical' }])
    const anew = await replay(shim.home, reworded, '--run', 'asked', '--all')
    expect(new Set((anew['rows'] as Json[]).map((row) => row['replayed'].reason_code as string))).toEqual(
      new Set(['APPROVAL_REQUIRED']),
    )
    // The rule is the same in a policy that is otherwise another one.
    const longer = await replay(shim.home, bundle([ask]), '--run', 'asked')
    expect(longer['calls']).toMatchObject({ stricter: 0, undecidable: 0 })
  })

  test('a run that was terminated, and went on in another segment', async () => {
    const stop = rule(
      'stop',
      'breaker',
      {},
      {
        breaker: { repeat_threshold: 3, repeat_window_ms: HOUR_MS, on_trip: 'TERMINATE_RUN' },
      },
    )
    const policy = bundle([stop])
    const setup = { policy, bin: 'heimdall', env: { SUB_RUN_ID: 'ended' } } as const
    const first = startShim(setup)
    for (let i = 0; i < 3; i += 1) await first.call('read', {})
    await first.end()
    const second = startShim({ ...setup, home: first.home })
    expect(await second.call('other', { n: 1 })).toMatchObject({ error: { code: -32_084 } })
    await second.end()
    const data = await replay(first.home, policy, '--run', 'ended', '--all')
    expect(data['calls']).toMatchObject({ total: 4, same: 4 })
    // Without the rule what came after is judged like any other call.
    expect((await replay(first.home, bundle([]), '--run', 'ended'))['calls']).toMatchObject({ looser: 2, same: 2 })
  })

  test('counters go on over segments, and a policy that was loaded in the middle decides what came after', async () => {
    const budget = (limit_calls: number): object =>
      bundle([rule('few', 'budget', {}, { budget: { limit_calls, on_exceed: 'BLOCK' } })])
    const setup = { policy: budget(2), bin: 'heimdall', env: { SUB_RUN_ID: 'long' } } as const
    const first = startShim(setup)
    for (let i = 0; i < 3; i += 1) await first.call('read', { i })
    const loads = (): number => ofType(first.events(), 'policy_loaded').length
    const before = loads()
    writeFileSync(first.policyPath, JSON.stringify(budget(4)))
    first.program.kill('SIGUSR2')
    await until('the new policy', () => loads() > before || undefined)
    for (let i = 3; i < 6; i += 1) await first.call('read', { i })
    await first.end()
    const second = startShim({ ...setup, policy: budget(4), home: first.home })
    await second.call('read', { i: 6 })
    await second.end()
    const later = await replay(first.home, budget(4), '--run', 'long', '--all')
    const byLimit = (later['recorded'] as Json[]).map(({ calls, different }) => [calls, different])
    // Of the three calls before the change, the one that was refused would have passed; then it would have been spent earlier.
    expect(byLimit).toEqual([
      [3, 1],
      [4, 1],
    ])
    const earlier = await replay(first.home, budget(2), '--run', 'long')
    expect((earlier['recorded'] as Json[])[0]).toMatchObject({ calls: 3, same: 3 })
  })
})

describe('another policy', () => {
  test('a stricter one: the expected difference, as a table, as JSON and as an exit code', async () => {
    const shim = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: 'loose' }, policy: bundle([]) })
    for (let i = 0; i < 4; i += 1) await shim.call('write', { i })
    await shim.call('push', { force: true })
    await shim.call('push', { password: 'correct horse' })
    await shim.call('read', {})
    await shim.end()
    const strict = bundle([
      deny('no-force', { ...tool('push'), args: { key_equals: { force: true } } }),
      rule('few', 'budget', tool('write'), { budget: { limit_calls: 3, on_exceed: 'REJECT_WITH_HINT' } }),
    ])
    const data = await replay(shim.home, strict, '--run', 'loose')
    expect(data).toMatchObject({
      calls: { total: 7, same: 4, stricter: 2, looser: 0, other: 0, undecidable: 1 },
      undecidable: { arguments: 1 },
      rows: [
        { seq: 4, tool_name: 'write', outcome: 'stricter', replayed: { rule_id: 'few', action: 'REJECT_WITH_HINT' } },
        { seq: 5, tool_name: 'push', outcome: 'stricter', replayed: { rule_id: 'no-force', action: 'BLOCK' } },
        {
          seq: 6,
          outcome: 'undecidable',
          why: ['arguments'],
          replayed: null,
          possible: expect.arrayContaining([
            expect.objectContaining({ action: 'ALLOW', rule_id: null }),
            expect.objectContaining({ action: 'BLOCK', rule_id: 'no-force' }),
          ]),
        },
      ],
    })
    const path = join(temporaryFolder(), 'strict.json')
    writeFileSync(path, JSON.stringify(strict))
    const words = [...launcher('sub'), 'policy', 'replay', path, '--run', 'loose', '--exit-code'] as const
    const { code, stdout } = await runProgram(words, { env: { HOME: shim.home } })
    expect(code).toBe(1)
    expect(stdout).toContain('4\tfake\twrite\tstricter\tALLOW DEFAULT_ALLOW\tREJECT_WITH_HINT few')
    expect(stdout).toContain('7 calls under test 1.0.0: 4 the same, 2 refused now, 0 allowed now, 0 by another rule')
  })

  test('what an undecidable call may have counted makes later ones undecidable only where it matters', async () => {
    const shim = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: 'spent' } })
    await shim.call('write', { token: 'correct-horse-battery' })
    for (let i = 0; i < 4; i += 1) await shim.call('write', { i })
    await shim.end()
    const policy = bundle([
      rule('odd', 'budget', { args: { has_keys: ['odd'] } }, { budget: { limit_calls: 1, on_exceed: 'BLOCK' } }),
      deny('no-odd', { args: { has_keys: ['odd'] } }),
      rule('few', 'budget', {}, { budget: { limit_calls: 3, on_exceed: 'BLOCK' } }),
    ])
    const data = await replay(shim.home, policy, '--run', 'spent', '--all')
    // Two of three are left to the others at the least, three at the most.
    expect((data['rows'] as Json[]).map((row) => row['outcome'] as string)).toEqual([
      'undecidable',
      'same',
      'same',
      'undecidable',
      'undecidable',
    ])
  })
})

describe('records that are not whole', () => {
  test('a file cut in half, interleaved, with lines of a newer version, of two runs; a run without calls', async () => {
    const home = temporaryFolder()
    const files = ['one', 'two'].map(async (id) => {
      const shim = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: id }, home })
      for (let i = 0; i < 3; i += 1) await shim.call('read', { i })
      await shim.end()
      return readFileSync(join(runsDir(home), id, 'events.jsonl'), 'utf8')
    })
    const [one = '', two = ''] = await Promise.all(files)
    const path = join(home, 'kept.jsonl')
    const lines = [one, two].map((text) => text.trim().split('\n'))
    writeFileSync(path, `${(lines[0] ?? []).flatMap((line, i) => [line, lines[1]?.[i] ?? '']).join('\n')}\n`)
    appendFileSync(
      path,
      `{"v":"7.0.0","type":"tool_call_decision","run_id":"one"}\n\u0000garbage\n${one.slice(0, 900)}`,
    )
    const policy = bundle([deny('no', tool('read'))])
    const whole = await replay(home, policy, '--events', path)
    expect(whole).toMatchObject({
      runs: 2,
      calls: { total: 6, stricter: 6 },
      set_aside: { newer: 1, unreadable: 2, undecided: 0 },
    })
    // From the middle of a line on, the beginning of its call is gone; names stand in the decision too.
    const cut = join(home, 'cut.jsonl')
    const decision = one.indexOf('"type":"tool_call_decision"')
    writeFileSync(cut, one.slice(decision - 30 - 40))
    const late = await replay(home, bundle([deny('no', { args: { has_keys: ['i'] } })]), '--events', cut)
    expect(late).toMatchObject({ calls: { total: 3, undecidable: 1, stricter: 2 }, set_aside: { unreadable: 1 } })
    const empty = startShim({ bin: 'heimdall', env: { SUB_RUN_ID: 'empty' }, home })
    await empty.end()
    expect(await replay(home, policy, '--run', 'empty')).toMatchObject({ calls: { total: 0 }, rows: [] })
  })

  test('no such run, no such file, neither, and a bundle of a newer kind: clear words', async () => {
    const home = temporaryFolder()
    const path = join(home, 'p.json')
    const said = async (policy: object, ...words: string[]): Promise<[number | null, string]> => {
      writeFileSync(path, JSON.stringify(policy))
      const { code, stderr } = await runLauncher('heimdall', ['policy', 'replay', path, ...words], {
        env: { HOME: home },
      })
      return [code, stderr]
    }
    expect(await said(bundle([]), '--run', 'none')).toEqual([3, expect.stringContaining('no run has the id')])
    expect(await said(bundle([]), '--events', 'none')).toEqual([3, expect.stringContaining('none cannot be read')])
    expect(await said(bundle([]))).toEqual([2, expect.stringContaining('--run')])
    const newer = { ...bundle([]), quorum: 2 }
    expect(await said(newer, '--run', 'none')).toEqual([expect.any(Number), expect.stringContaining('quorum')])
  })

  test('a record of many calls is read in little memory', async () => {
    const home = temporaryFolder()
    const path = join(home, 'large.jsonl')
    const call = (n: number, hash: string): object => ({
      call_id: `c${n}`,
      server_name: 'fs',
      tool_name: 'read',
      args_hash: hash,
    })
    const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    const event = (type: string, n: number, more: object): string =>
      JSON.stringify({ v: '0.2.0', type, ts: new Date(1e12 + n).toISOString(), run_id: 'r', ...more })
    const calls = scaled(20_000, 400_000)
    const preview = { truncated: true, args_preview: 'x'.repeat(3_000) }
    for (let from = 0; from < calls; from += 1_000)
      appendFileSync(
        path,
        Array.from({ length: 1_000 }, (_, i) => from + i)
          .flatMap((n) => [
            event('tool_call_start', n, { call: { ...call(n, hash), bytes_in: 9, preview } }),
            event('tool_call_decision', n, { call: call(n, hash), decision: { action: 'ALLOW', rule_id: null } }),
          ])
          .join('\n')
          .concat('\n'),
      )
    // The file takes 70 MB and more; the whole of it would not fit.
    writeFileSync(join(home, 'p.json'), JSON.stringify(bundle([deny('no', tool('read'))])))
    const [node, bin] = launcher('heimdall')
    const { code, stdout } = await runProgram(
      [node, '--max-old-space-size=48', bin, 'policy', 'replay', join(home, 'p.json'), '--events', path, '--json'],
      { env: { HOME: home } },
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      data: { calls: { total: calls, stricter: calls }, rows_left_off: calls - 10_000 },
    })
  })
})
