// What claims cost where writes happen: `heimdall hook claude`, spawned, against the bare interpreter; and the shim with its claim check, against the proxy that its goals are set by.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Runs, runBench, type Side } from './support/bench.ts'
import { type Load, startLoad } from './support/shim-load.ts'
import { POLICY } from './support/shim-policy.ts'

/** Plays the host: a process that is called like one, spawns what it is told, and says how long that took. */
const HOST = `
const { spawnSync } = require('node:child_process')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { args, input, expected } = JSON.parse(line)
  const before = performance.now()
  const { status, stdout } = spawnSync(process.execPath, args, { input, encoding: 'utf8' })
  const tookMs = performance.now() - before
  process.stdout.write(JSON.stringify({ tookMs, isRight: status === 0 && (expected === '' ? stdout === '' : stdout.includes(expected)) }) + '\\n')
})`

/** No repository, so without claims. */
const apart = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
const env = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state'), USER: 'ana' }
const heimdall = resolve('bin/heimdall')

function run(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [heimdall, ...args], { cwd: folder, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
}

spawnSync('git', ['init', '--quiet'], { cwd: folder, env })
writeFileSync(join(folder, 'held.ts'), '')
run(['agent', 'add', 'amber-otter', '--role', 'bench'])
run(['claim', 'held.ts', '--agent', 'amber-otter'])
const host = spawn(process.execPath, ['-e', HOST], {
  argv0: 'claude',
  cwd: folder,
  env,
  stdio: ['pipe', 'pipe', 'inherit'],
})
const answers = createInterface({ input: host.stdout })

async function timed(args: readonly string[], input: string, expected: string): Promise<number> {
  host.stdin.write(`${JSON.stringify({ args, input, expected })}\n`)
  const [line] = (await once(answers, 'line')) as [string]
  const { tookMs, isRight } = JSON.parse(line) as { tookMs: number; isRight: boolean }
  if (!isRight) throw new Error(`${args.join(' ')} was not answered as expected: ${input}`)
  return tookMs
}

const payload = (event: string, path: string): string =>
  JSON.stringify({
    session_id: 'bench',
    cwd: folder,
    hook_event_name: event,
    tool_name: 'Edit',
    tool_input: { file_path: join(folder, path), old_string: 'a', new_string: 'b' },
    tool_use_id: 'use',
  })

const hook = (name: string, path: string, expected: string): Side => ({
  name,
  measure: () => timed([heimdall, 'hook', 'claude'], payload('PreToolUse', path), expected),
})
const bare: Side = { name: 'node -e 0', measure: () => timed(['-e', '0'], '', '') }

await timed([heimdall, 'hook', 'claude'], payload('SessionStart', 'own.ts'), 'You are')
// From here on it is the agent's own.
await timed([heimdall, 'hook', 'claude'], payload('PreToolUse', 'own.ts'), '')

/** Writes of an agent that is somebody to files that it holds, among claims of others: each call is checked. */
const CHECKED = 'heimdall shim with the claim check'
/** The same calls by nobody in particular in a folder without claims, as in `bench -- shim`. */
const UNCHECKED = 'heimdall shim without claims'
const SDK = 'SDK client + server'
const upstream = [process.execPath, resolve('bench/peers/shim-upstream.mjs')] as const

function somebody(): Record<string, string> {
  run(['agent', 'add', 'moss-plover', '--role', 'bench'])
  const keys = join(folder, '.git/heimdall/keys')
  const key = readdirSync(keys).find((name) => name.includes('moss-plover')) ?? ''
  return { HEIMDALL_AGENT_ID: 'moss-plover', HEIMDALL_SECRET: readFileSync(join(keys, key), 'utf8').trim() }
}

const recordOf = (name: string): string => join(folder, name, 'events.jsonl')

const shimIn = (cwd: string, name: string): [string, ...string[]] => [
  // The shim looks at the repository that it is started in.
  'env',
  '--chdir',
  cwd,
  process.execPath,
  heimdall,
  'mcp',
  'shim',
  '--server-name=bench',
  `--policy=${join(folder, 'policy/policy.json')}`,
  `--events=${recordOf(name)}`,
  '--',
  ...upstream,
]

const WARM_CALLS = 5_000

/** Warm, and with every file of the calls claimed by their first write. */
async function warm(load: Load): Promise<Load> {
  await load.throughput(WARM_CALLS, 64)
  return load
}

/** A shim whose record cannot be opened says so and goes on, at two thirds of the processor time. */
async function warmShim(cwd: string, name: string, ...as: [Record<string, string>, string?]): Promise<Load> {
  mkdirSync(join(folder, name))
  const load = await warm(await startLoad(shimIn(cwd, name), ...as))
  const decisions = readFileSync(recordOf(name), 'utf8').split('"tool_call_decision"').length - 1
  if (decisions < WARM_CALLS) throw new Error(`${decisions} of ${WARM_CALLS} decisions are in the record`)
  return load
}

async function shims(): Promise<{ runs: Runs<'perSecond' | 'cpuUs'>; close(): Promise<void> }> {
  mkdirSync(join(folder, 'policy'))
  writeFileSync(join(folder, 'policy/policy.json'), JSON.stringify(POLICY))
  for (let n = 0; n < 10; n += 1) run(['claim', `other/part-${n}/**`, '--agent', 'amber-otter', '--task', `T-${n}`])
  const identity = { ...env, ...somebody() }
  const loads = new Map<string, Load>([
    [CHECKED, await warmShim(folder, 'checked', identity, folder)],
    [UNCHECKED, await warmShim(apart, 'unchecked', env)],
    [SDK, await warm(await startLoad([process.execPath, resolve('bench/peers/shim-sdk-proxy.mjs'), ...upstream]))],
  ])
  const { status, stdout } = spawnSync(process.execPath, [heimdall, 'claim', 'list', '--json'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  const held = stdout.split('src/module-').length - 1
  if (status !== 0 || held < 50) throw new Error(`${held} of 50 files are claimed: ${stdout.slice(0, 500)}`)
  const runner = (name: string): Runs<'perSecond' | 'cpuUs'>['ours'] => ({
    name,
    run: async () => (await loads.get(name)?.throughput(10_000, 64)) ?? { perSecond: Number.NaN, cpuUs: Number.NaN },
  })
  return {
    runs: {
      rounds: 7,
      ours: runner(CHECKED),
      peers: [SDK, UNCHECKED].map(runner),
      figures: [
        {
          of: 'perSecond',
          what: 'writes through the shim, 64 in flight',
          unit: 'calls/s',
          goals: { [SDK]: { atLeast: 2.5 } },
        },
        { of: 'cpuUs', what: 'CPU of the shim for a write', unit: 'µs/call', goals: { [SDK]: { atMost: 0.4 } } },
      ],
    },
    close: async () => void (await Promise.all([...loads.values()].map((load) => load.close()))),
  }
}

const claimed = await shims()
await runBench({
  name: 'hook',
  about: 'a hook’s answer before an edit, from spawn to exit',
  prepare: () => ({
    comparisons: [
      {
        what: 'a path that the agent holds',
        unit: 'ms',
        rounds: 30,
        ours: hook('heimdall hook', 'own.ts', ''),
        peers: [{ ...bare, goal: { atMost: 1.6 } }],
      },
      {
        what: 'a path that another holds, refused and on record',
        unit: 'ms',
        rounds: 15,
        ours: hook('heimdall hook', 'held.ts', 'held by amber-otter'),
        peers: [bare],
      },
      claimed.runs,
    ],
    cleanup: () => claimed.close(),
  }),
})
host.stdin.end()
for (const path of [folder, apart]) rmSync(path, { recursive: true, force: true })
