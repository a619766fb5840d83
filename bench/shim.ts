// The shim under load: a policy of ten rules with events on, against proxies that do less.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Comparison, type Figure, type Peer, runBench, type Runs, type Side } from './support/bench.ts'
import { startRunAround } from './support/run-around.ts'
import { type Load, percentile, startLoad, startUntilAnswer } from './support/shim-load.ts'
import { POLICY } from './support/shim-policy.ts'

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const policyPath = join(folder, 'policy.json')
const upstream = [process.execPath, resolve('bench/peers/shim-upstream.mjs')] as const
const peer = (name: string): [string, ...string[]] => [process.execPath, `bench/peers/${name}.mjs`, ...upstream]
const shim: [string, ...string[]] = [
  process.execPath,
  resolve('bin/heimdall'),
  'mcp',
  'shim',
  '--server-name=bench',
  `--policy=${policyPath}`,
  // In a folder of its own, as the record of a run is: the policy's folder is watched.
  `--events=${join(folder, 'record', 'events.jsonl')}`,
  '--',
  ...upstream,
]
const bindingsPath = join(folder, 'bindings.json')
const OURS = 'heimdall shim'
const BOUND = 'heimdall shim with secrets'
/** Its record is the run's, and the keeper reads along. */
const IN_RUN = 'heimdall shim in a run'
const BARE = 'bare line splitter'
const SDK = 'SDK client + server'
const MCP_PROXY = 'mcp-proxy'
const PIPE = 'plain Node pipe'
/** What of our work nobody can leave out, and nothing else: how far the goals are from what is possible on this machine. */
const RECORDER = 'bare recorder'
const HASHING_PIPE = 'pipe with a hash'
const COMMANDS: Readonly<Record<string, [string, ...string[]]>> = {
  [OURS]: shim,
  [BOUND]: [...shim.slice(0, 4), `--secret-bindings=${bindingsPath}`, ...shim.slice(4)] as [string, ...string[]],
  [IN_RUN]: ['env', '--chdir', join(folder, 'project'), ...shim.slice(0, 4), ...shim.slice(6)],
  [BARE]: peer('shim-passthrough'),
  [SDK]: peer('shim-sdk-proxy'),
  [MCP_PROXY]: peer('shim-mcp-proxy'),
  [PIPE]: peer('shim-pipe'),
  [RECORDER]: peer('shim-recorder'),
  [HASHING_PIPE]: peer('shim-hashing-pipe'),
}

/** As long as tokens are, from the environment. */
const SECRETS = Array.from({ length: 20 }, (_, n) => ({
  inject_as: `TOKEN_${n}`,
  secret_ref: `token_${n}`,
  value: Buffer.from(`${n * 7919}-key-${n * n}-of-a-service`).toString('base64'),
}))
const env = {
  HOME: folder,
  RECORD: join(folder, 'record', 'bare.jsonl'),
  ...Object.fromEntries(SECRETS.map(({ secret_ref: ref, value }) => [`SUB_SECRET_${ref.toUpperCase()}`, value])),
}
const commandOf = (name: string): [string, ...string[]] => COMMANDS[name] ?? shim
const environments = new Map<string, Readonly<Record<string, string>>>()
const envOf = (name: string): Readonly<Record<string, string>> => environments.get(name) ?? env
/** Inside a run, files of its own project, which their first write claims: that is what agents write. */
const rootOf = (name: string): string => (name === IN_RUN ? join(folder, 'project') : '/repo')
const started = (name: string): Promise<number> => startUntilAnswer(commandOf(name), envOf(name))

/** Each side is started once and kept, warm; the rounds alternate between them. */
const running = new Map<string, Promise<Load>>()

function loadOf(name: string): Promise<Load> {
  let load = running.get(name)
  if (load === undefined) {
    load = startLoad(commandOf(name), envOf(name), rootOf(name)).then(async (warm) => {
      await warm.throughput(5_000, 64)
      return warm
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

/** The same for several figures of one run. */
function runsOf<F extends string>(
  ours: string,
  peers: readonly string[],
  rounds: number,
  run: (load: Load) => Promise<Readonly<Record<F, number>>>,
  figures: readonly Figure<F>[],
): Runs<F> {
  const runner = (name: string): Runs<F>['ours'] => ({ name, run: async () => run(await loadOf(name)) })
  return { rounds, ours: runner(ours), peers: [...peers, ...(ours === OURS ? [] : [OURS])].map(runner), figures }
}

/** What a proxy adds: its round trips and those without any are measured in turn, because the machine changes from second to second. */
async function added(load: Load, direct: Load): Promise<{ readonly p50: number; readonly p99: number }> {
  const through: number[] = []
  const without: number[] = []
  for (let turn = 0; turn < 6; turn += 1) {
    without.push(...(await direct.latencies(400)))
    through.push(...(await load.latencies(400)))
  }
  through.sort((a, b) => a - b)
  without.sort((a, b) => a - b)
  const at = (p: number): number => percentile(through, p) - percentile(without, p)
  return { p50: at(0.5), p99: at(0.99) }
}

const MIB = 1 << 20

/** The comparisons that secrets, or a run around it, may make a difference to. */
function trafficOf(ours: string, more: string, direct: Load): (Comparison | Runs<string>)[] {
  return [
    runsOf(ours, [BARE, SDK, MCP_PROXY, RECORDER], 7, (load) => load.throughput(20_000, 64), [
      {
        of: 'perSecond',
        what: `64 calls in flight${more}`,
        unit: 'calls/s',
        goals: { [BARE]: { atLeast: 0.38 }, [SDK]: { atLeast: 2.5 }, [MCP_PROXY]: { atLeast: 3 } },
      },
      {
        of: 'cpuUs',
        what: `CPU of the proxy, 64 calls in flight${more}`,
        unit: 'µs/call',
        goals: { [SDK]: { atMost: 0.4 } },
      },
    ]),
    runsOf(ours, [BARE, SDK, MCP_PROXY, RECORDER], 7, (load) => added(load, direct), [
      { of: 'p50', what: `time added to a call, p50${more}`, unit: 'µs', goals: { [SDK]: { atMost: 0.8 } } },
      { of: 'p99', what: `time added to a call, p99${more}`, unit: 'µs', goals: { [SDK]: { atMost: 0.6 } } },
    ]),
    ...[1, 10, 100].map((mib) =>
      comparison(
        ours,
        `one result of ${mib} MiB${more}`,
        'MB/s',
        mib === 100 ? 5 : 9,
        (load) => load.result(mib * MIB),
        [[PIPE, { atLeast: mib > 10 ? 0.6 : 0.7 }], [HASHING_PIPE]],
      ),
    ),
  ]
}

await runBench({
  name: 'shim',
  about: 'calls of 300 bytes through a shim with ten rules and three events a call, against proxies that do less',
  async prepare() {
    mkdirSync(join(folder, 'record'))
    writeFileSync(policyPath, JSON.stringify(POLICY))
    writeFileSync(bindingsPath, JSON.stringify(SECRETS.map(({ inject_as, secret_ref }) => ({ inject_as, secret_ref }))))
    const direct = await startLoad(upstream, env)
    await direct.throughput(5_000, 64)
    running.set('no proxy', Promise.resolve(direct))
    const run = await startRunAround(folder, policyPath)
    environments.set(IN_RUN, run.env)
    return {
      async cleanup() {
        for (const load of running.values()) await (await load).close()
        await run.end()
        rmSync(folder, { recursive: true, force: true })
      },
      comparisons: [
        ...trafficOf(OURS, '', direct),
        ...trafficOf(BOUND, ', 20 secrets bound', direct),
        ...trafficOf(IN_RUN, ', inside a run', direct),
        comparison(OURS, 'one result of 1 GiB', 'MB/s', 3, (load) => load.result(1_024 * MIB), [
          [PIPE, { atLeast: 0.6 }],
          [HASHING_PIPE],
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
          ours: { name: BOUND, measure: () => started(BOUND) },
          peers: [
            { name: BARE, measure: () => started(BARE), goal: { atMost: 2 } },
            { name: OURS, measure: () => started(OURS) },
          ],
        },
        {
          what: 'start until the first answer, inside a run',
          unit: 'ms',
          rounds: 15,
          ours: { name: IN_RUN, measure: () => started(IN_RUN) },
          peers: [
            { name: BARE, measure: () => started(BARE), goal: { atMost: 2 } },
            { name: OURS, measure: () => started(OURS) },
          ],
        },
        {
          what: 'start until the first answer',
          unit: 'ms',
          rounds: 15,
          ours: { name: OURS, measure: () => started(OURS) },
          peers: [
            { name: BARE, measure: () => started(BARE), goal: { atMost: 2 } },
            { name: SDK, measure: () => started(SDK) },
          ],
        },
      ],
    }
  },
})
