// Workers and orchestrators of a temporary project, as real processes; whatever a test leaves running is ended with it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { spine, type Spine } from '../spine/spine.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

export interface Fleet extends Spine {
  /** Resolves when the worker takes tasks. */
  worker(name: string, script: string, flags?: readonly string[]): Promise<RunningWorker>
  workerOf(
    name: string,
    command: readonly string[],
    flags: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<RunningWorker>
  serve(): Promise<Program>
  /** What the runtime of the only task has streamed, line by line. */
  frames(): string[]
  /** One folder for each assignment. */
  tasks(): string
  /** `heimdall task add --wait`. */
  send(brief: string, flags?: readonly string[]): Promise<Json>
}

export interface RunningWorker {
  readonly program: Program
  readonly url: string
  readonly token: string
}

export function fleet(): Fleet {
  const project = spine({ git: true })
  project.write('README.md', 'hello\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'first')
  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program =>
    startProgram([...launcher('heimdall'), ...args], { cwd: project.root, env: { ...project.env, ...env } })
  const workerOf: Fleet['workerOf'] = async (name, command, flags, env) => {
    const program = start(['worker', 'start', '--name', name, ...flags, '--', ...command], env)
    await until(`${name} to take tasks`, () => program.stderr().includes('takes tasks at'))
    return { program, ...addressOf(project.home, 'workers', name) }
  }
  return {
    ...project,
    workerOf,
    worker(name, script, flags = []) {
      const path = join(project.home, `${name}.sh`)
      writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return workerOf(name, [path], flags, {})
    },
    frames() {
      const tasks = join(dispatchDir(project.home), 'tasks')
      const [task = ''] = readdirSync(tasks)
      return readFileSync(join(tasks, task, 'frames.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    },
    tasks: () => join(dispatchDir(project.home), 'tasks'),
    async serve() {
      const program = start(['worker', 'serve'])
      await until('the orchestrator to listen', () => program.stderr().includes('announce themselves to'))
      return program
    },
    async send(brief, flags = []) {
      const { stdout, stderr, code } = await project.run('heimdall', [
        'task',
        'add',
        brief,
        '--json',
        '--wait',
        '--timeout',
        '60s',
        ...flags,
      ])
      if (!stdout.startsWith('{')) throw new Error(`send ended with ${code}: ${stdout}${stderr}`)
      const { data, error } = JSON.parse(stdout) as Json
      return (data ?? error) as Json
    },
  }
}

const addressOf = (home: string, role: string, name: string): { url: string; token: string } =>
  JSON.parse(readFileSync(addressFile(home, role, name), 'utf8')) as { url: string; token: string }

/** Where a worker or an orchestrator of the only project has put its address and token. */
export const addressFile = (home: string, role: string, name: string): string =>
  join(dispatchDir(home), role, `${name}.json`)

/** Of the only project. */
function dispatchDir(home: string): string {
  const dir = join(home, '.local/state/heimdall/dispatch')
  return join(dir, readdirSync(dir)[0] ?? '')
}

/** What a script of a worker does to end as done. */
export const DONE = `printf '{"status":"done","tokens_spent":7,"reply":"ok"}' > "$HEIMDALL_RESULT_FILE"`
