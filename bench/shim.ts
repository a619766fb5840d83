// The shim under load: a policy of ten rules with events on, against proxies that do less.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileBundle } from '../src/policy/bundle/compile.ts'
import { openPolicy } from '../src/policy/decide/plan.ts'
import { CallArguments } from '../src/shim/call/call-arguments.ts'
import { memoryState, sharedState } from '../src/shim/policy-state.ts'
import { type Comparison, type Peer, runBench, type Side } from './support/bench.ts'
import { type Load, percentile, startLoad, startUntilAnswer } from './support/shim-load.ts'

const rule = (rule_id: string, kind: string, match: object, effect: object): object => ({
  rule_id,
  kind,
  enabled: true,
  severity: 'info',
  match,
  effect,
})
const allow = { action: 'ALLOW', reason_code: 'OK', message: 'fine' }
const block = { action: 'BLOCK', reason_code: 'NO', message: 'no' }
const POLICY = {
  policy_id: 'bench',
  version: '1',
  mode: 'guardrails',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [
    rule(
      'tag-writes',
      'tag',
      { tool_name: { glob: ['write_*', 'edit_*'] } },
      { tag: { add_risk_class: ['write_like'] } },
    ),
    rule('tag-net', 'tag', { tool_name: { regex: ['^(fetch|http)_'] } }, { tag: { add_risk_class: ['network_like'] } }),
    rule('no-delete', 'deny', { tool_name: { glob: ['delete_*'] } }, block),
    rule('no-etc', 'deny', { args: { key_in: { path: ['/etc/passwd', '/etc/shadow'] } } }, block),
    rule('no-net', 'deny', { risk_class: ['network_like'] }, block),
    rule('all', 'allow', { server_name: { regex: ['.*'] } }, allow),
    rule('calls', 'budget', {}, { budget: { scope: 'run', limit_calls: 1_000_000_000, on_exceed: 'BLOCK' } }),
    rule(
      'cost',
      'budget',
      { risk_class: ['write_like'] },
      { budget: { scope: 'tool', limit_cost_units: 1_000_000_000, on_exceed: 'BLOCK' } },
    ),
    rule(
      'rate',
      'rate_limit',
      {},
      {
        rate_limit: {
          scope: 'run',
          capacity: 1_000_000_000,
          refill_tokens: 1_000_000,
          refill_period_ms: 10,
          on_limit: 'THROTTLE',
          backoff_ms: 100,
        },
      },
    ),
    rule(
      'loop',
      'breaker',
      {},
      { breaker: { scope: 'server_tool', repeat_threshold: 1_000, repeat_window_ms: 1_000, on_trip: 'BLOCK' } },
    ),
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const policyPath = join(folder, 'policy.json')
const upstream = [process.execPath, 'bench/peers/shim-upstream.mjs'] as const
const peer = (name: string): [string, ...string[]] => [process.execPath, `bench/peers/${name}.mjs`, ...upstream]
const shim: [string, ...string[]] = [
  process.execPath,
  'bin/heimdall',
  'shim',
  '--server-name=bench',
  `--policy=${policyPath}`,
  `--events=${join(folder, 'events.jsonl')}`,
  '--',
  ...upstream,
]
const bindingsPath = join(folder, 'bindings.json')
const OURS = 'heimdall shim'
const BOUND = 'heimdall shim with secrets'
const BARE = 'bare line splitter'
const SDK = 'SDK client + server'
const MCP_PROXY = 'mcp-proxy'
const PIPE = 'plain Node pipe'
const COMMANDS: Readonly<Record<string, [string, ...string[]]>> = {
  [OURS]: shim,
  [BOUND]: [...shim.slice(0, 4), `--secret-bindings=${bindingsPath}`, ...shim.slice(4)] as [string, ...string[]],
  [BARE]: peer('shim-passthrough'),
  [SDK]: peer('shim-sdk-proxy'),
  [MCP_PROXY]: peer('shim-mcp-proxy'),
  [PIPE]: peer('shim-pipe'),
}

/** As long as tokens are, from the environment. */
const SECRETS = Array.from({ length: 20 }, (_, n) => ({
  inject_as: `TOKEN_${n}`,
  secret_ref: `token_${n}`,
  value: Buffer.from(`${n * 7919}-key-${n * n}-of-a-service`).toString('base64'),
}))
const env = {
  HOME: folder,
  ...Object.fromEntries(SECRETS.map(({ secret_ref: ref, value }) => [`SUB_SECRET_${ref.toUpperCase()}`, value])),
}
const commandOf = (name: string): [string, ...string[]] => COMMANDS[name] ?? shim

/** Each side is started once and kept, warm; the rounds alternate between them. */
const running = new Map<string, Promise<Load>>()

function loadOf(name: string): Promise<Load> {
  let load = running.get(name)
  if (load === undefined) {
    load = startLoad(commandOf(name), env).then(async (started) => {
      await started.throughput(5_000, 64)
      return started
    })
    running.set(name, load)
  }
  return load
}

function comparison(
  ours: string,
  what: string,
  unit: string,
  rounds: number,
  measure: (load: Load) => Promise<number>,
  goals: readonly (readonly [string, Peer['goal']?])[],
): Comparison {
  const side = (name: string): Side => ({ name, measure: async () => measure(await loadOf(name)) })
  const [first, ...others] = goals.map(([name, goal]): Peer =>
    goal === undefined ? side(name) : { ...side(name), goal },
  )
  if (first === undefined) throw new Error('a comparison without peers')
  const itself = ours === OURS ? [] : [side(OURS)]
  return { what, unit, rounds, ours: side(ours), peers: [first, ...others, ...itself] }
}

/** What a proxy adds: its round trips and those without any are measured in turn, because the machine changes from second to second. */
async function added(load: Load, direct: Load, p: number): Promise<number> {
  const through: number[] = []
  const without: number[] = []
  for (let turn = 0; turn < 6; turn += 1) {
    without.push(...(await direct.latencies(400)))
    through.push(...(await load.latencies(400)))
  }
  const at = (times: number[]): number =>
    percentile(
      times.sort((a, b) => a - b),
      p,
    )
  return at(through) - at(without)
}

const MIB = 1 << 20

/** The comparisons that secrets may make a difference to. */
function trafficOf(ours: string, more: string, direct: Load): Comparison[] {
  return [
    comparison(
      ours,
      `64 calls in flight${more}`,
      'calls/s',
      5,
      async (load) => (await load.throughput(20_000, 64)).perSecond,
      [
        [BARE, { atLeast: 0.38 }],
        [SDK, { atLeast: 2.5 }],
        [MCP_PROXY, { atLeast: 3 }],
      ],
    ),
    comparison(
      ours,
      `CPU of the proxy, 64 calls in flight${more}`,
      'µs/call',
      5,
      async (load) => (await load.throughput(20_000, 64)).cpuUs,
      [[BARE], [SDK, { atMost: 0.4 }], [MCP_PROXY]],
    ),
    comparison(ours, `time added to a call, p50${more}`, 'µs', 7, (load) => added(load, direct, 0.5), [
      [BARE],
      [SDK, { atMost: 0.8 }],
      [MCP_PROXY],
    ]),
    comparison(ours, `time added to a call, p99${more}`, 'µs', 7, (load) => added(load, direct, 0.99), [
      [BARE],
      [SDK, { atMost: 0.6 }],
      [MCP_PROXY],
    ]),
    ...[1, 10, 100].map((mib) =>
      comparison(
        ours,
        `one result of ${mib} MiB${more}`,
        'MB/s',
        mib === 100 ? 5 : 9,
        (load) => load.result(mib * MIB),
        [[PIPE, { atLeast: mib > 10 ? 0.6 : 0.7 }]],
      ),
    ),
  ]
}

await runBench({
  name: 'shim',
  about: 'calls of 300 bytes through a shim with ten rules and three events a call, against proxies that do less',
  async prepare() {
    writeFileSync(policyPath, JSON.stringify(POLICY))
    writeFileSync(bindingsPath, JSON.stringify(SECRETS.map(({ inject_as, secret_ref }) => ({ inject_as, secret_ref }))))
    const direct = await startLoad(upstream, env)
    await direct.throughput(5_000, 64)
    running.set('no proxy', Promise.resolve(direct))
    const state = await statePair()
    return {
      comparisons: [
        ...trafficOf(OURS, '', direct),
        ...trafficOf(BOUND, ', 20 secrets bound', direct),
        comparison(OURS, 'one result of 1 GiB', 'MB/s', 1, (load) => load.result(1_024 * MIB), [
          [PIPE, { atLeast: 0.6 }],
        ]),
        comparison(
          OURS,
          'one request of 100 MiB, held until it is judged',
          'MB/s',
          3,
          (load) => load.request(100 * MIB),
          [[PIPE]],
        ),
        {
          what: 'peak memory after all of this',
          unit: 'MB',
          rounds: 1,
          ours: { name: OURS, measure: async () => (await loadOf(OURS)).peakMb() },
          peers: [{ name: 'the bound of 130', measure: () => 130, goal: { atMost: 1 } }],
        },
        {
          what: 'start until the first answer, 20 secrets bound',
          unit: 'ms',
          rounds: 15,
          ours: { name: BOUND, measure: () => startUntilAnswer(commandOf(BOUND), env) },
          peers: [
            { name: BARE, measure: () => startUntilAnswer(commandOf(BARE), env), goal: { atMost: 2 } },
            { name: OURS, measure: () => startUntilAnswer(shim, env) },
          ],
        },
        {
          what: 'start until the first answer',
          unit: 'ms',
          rounds: 15,
          ours: { name: OURS, measure: () => startUntilAnswer(shim, env) },
          peers: [
            { name: BARE, measure: () => startUntilAnswer(commandOf(BARE), env), goal: { atMost: 2 } },
            { name: SDK, measure: () => startUntilAnswer(commandOf(SDK), env) },
          ],
        },
        {
          what: 'a decision with counters shared by the run, above one in memory',
          unit: 'µs',
          rounds: 9,
          ours: { name: 'shared', measure: () => state.shared() - state.memory() },
          peers: [{ name: 'the bound of 40', measure: () => 40, goal: { atMost: 1 } }],
        },
      ],
    }
  },
})
for (const load of running.values()) await (await load).close()
rmSync(folder, { recursive: true, force: true })

async function statePair(): Promise<{ shared: () => number; memory: () => number }> {
  const policy = openPolicy(await compileBundle(JSON.stringify(POLICY), { name: 'bench' }), {
    env: 'dev',
    agent_id: 'a',
    client: 'custom',
  })
  const plan = policy.planFor('bench', 'write_file')
  const run = join(folder, 'run')
  const states = {
    shared: sharedState(run, { bootId: 'bench', monoMs: performance.now() }),
    memory: memoryState(),
  }
  const time = (name: keyof typeof states): number => {
    const calls = 3_000
    const before = performance.now()
    for (let n = 0; n < calls; n += 1)
      states[name].decide(
        plan,
        new CallArguments(Buffer.from(`{"path":"/repo/${n}","force":false}`), 0),
        performance.now(),
      )
    return ((performance.now() - before) * 1_000) / calls
  }
  return { shared: () => time('shared'), memory: () => time('memory') }
}
