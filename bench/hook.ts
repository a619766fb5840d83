// How long a host waits for its hook: `heimdall hook claude`, spawned, against the bare interpreter.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { runBench, type Side } from './support/bench.ts'

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

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
const env = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state'), USER: 'ana' }
const heimdall = resolve('bin/heimdall')

function run(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [heimdall, ...args], { cwd: folder, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
}

spawnSync('git', ['init', '--quiet'], { cwd: folder, env })
writeFileSync(join(folder, 'held.ts'), '')
run(['agent', 'register', '--name', 'amber-otter', '--role', 'bench'])
run(['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'held.ts'])
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
    ],
  }),
})
host.stdin.end()
rmSync(folder, { recursive: true, force: true })
