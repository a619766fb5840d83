// How long a run takes until its command runs: `heimdall run`, with identity, run and session, against a bare pty in Node; and what a look at fifty agents costs.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBench } from './support/bench.ts'

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const home = join(folder, 'home')
const project = join(folder, 'project')
for (const path of [home, project]) mkdirSync(path)
const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' }
const git = (...args: string[]): void => void execFileSync('git', args, { cwd: project, env, stdio: 'ignore' })
git('init')
git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--allow-empty', '--message=start')

const fifo = join(folder, 'started')
execFileSync('mkfifo', [fifo])
const ROOT = process.cwd()
const SAYS_SO = ['sh', '-c', `echo > ${fifo}; sleep 1000`]

/** From the spawn of the program to the first word of the command that it runs in a pty. */
async function untilStarted(args: readonly string[]): Promise<{ ms: number; pid: number; exited: Promise<unknown> }> {
  const before = performance.now()
  const program = spawn(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(program, 'exit')
  const reading = await open(fifo, 'r')
  await reading.read(Buffer.alloc(1), 0, 1)
  const ms = performance.now() - before
  await reading.close()
  return { ms, pid: program.pid ?? 0, exited }
}

async function heimdallRun(): Promise<number> {
  const { ms, exited } = await untilStarted([
    join(ROOT, 'bin/heimdall'),
    'run',
    '--agent',
    'bench-otter',
    '--detach',
    '--',
    ...SAYS_SO,
  ])
  // The command runs before its starter is through: until then nothing of the run may be there to wait for.
  await exited
  await ended()
  return ms
}

/** The next round begins when nothing of this one is left. */
async function ended(): Promise<void> {
  spawnSync(process.execPath, [join(ROOT, 'bin/hm'), 'kill', '--wait', 'bench-otter'], { cwd: project, env })
  const sheets = join(home, '.local/state/heimdall/runs/.kept')
  while (readdirSync(sheets).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

const BARE_PTY = `
  const pty = require(${JSON.stringify(join(ROOT, 'node_modules/@lydell/node-pty'))})
  pty.spawn('sh', ${JSON.stringify(SAYS_SO.slice(1))}, { cols: 220, rows: 50, cwd: process.cwd(), env: process.env }).onData(() => {})
`

async function barePty(): Promise<number> {
  const { ms, pid } = await untilStarted(['-e', BARE_PTY])
  process.kill(pid, 'SIGKILL')
  return ms
}

/** Fifty that go on, in a home of their own, so that the starts above are alone. */
const AGENTS = 50
const many = join(folder, 'many')
const manyEnv = { ...env, HOME: many }

function startMany(): void {
  mkdirSync(many, { recursive: true })
  for (let i = 0; i < AGENTS; i += 1)
    execFileSync(
      process.execPath,
      [join(ROOT, 'bin/heimdall'), 'run', '--agent', `agent-${i}`, '--detach', '--no-record', '--', 'sleep', '10000'],
      { cwd: project, env: manyEnv, stdio: 'ignore' },
    )
}

function endMany(): void {
  for (let i = 0; i < AGENTS; i += 1)
    spawnSync(process.execPath, [join(ROOT, 'bin/hm'), 'kill', `agent-${i}`], { cwd: project, env: manyEnv })
}

function took(args: readonly string[]): number {
  const before = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd: project, env: manyEnv, stdio: 'ignore' })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - before
}

await runBench({
  name: 'run',
  about: 'from the command line to the first act of the agent',
  prepare: () => {
    startMany()
    return {
      comparisons: [
        {
          what: 'heimdall run until its command runs',
          unit: 'ms',
          rounds: 20,
          ours: { name: 'heimdall run', measure: heimdallRun },
          peers: [{ name: 'node-pty in node', measure: barePty, goal: { atMost: 2.5 } }],
        },
        {
          what: `heimdall status with ${AGENTS} agents`,
          unit: 'ms',
          rounds: 20,
          ours: { name: 'heimdall status', measure: () => took([join(ROOT, 'bin/heimdall'), 'status']) },
          peers: [{ name: 'node -e 0', measure: () => took(['-e', '0']), goal: { atMost: 2.5 } }],
        },
      ],
      cleanup() {
        endMany()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
})
