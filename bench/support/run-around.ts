// A real run, with keeper and all, whose agent does nothing: what is started in its environment takes part in it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface RunAround {
  /** The project that it runs in. */
  readonly cwd: string
  /** As its agent finds it, and so every shim that the agent's host starts. */
  readonly env: Readonly<Record<string, string>>
  /** Resolves when it is closed. */
  end(): Promise<void>
}

const AGENT = 'bench-otter'

export async function startRunAround(folder: string, policyPath: string): Promise<RunAround> {
  const [cwd, home, said] = [join(folder, 'project'), join(folder, 'run-home'), join(folder, 'environment')]
  for (const path of [cwd, home]) mkdirSync(path)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' }
  execFileSync('git', ['init', '--quiet'], { cwd, env })
  const command = ['sh', '-c', `env -0 > '${said}.new' && mv '${said}.new' '${said}' && exec sleep 100000`]
  const flags = ['--agent', AGENT, '--policy', policyPath, '--detach', '--', ...command]
  execFileSync(process.execPath, [resolve('bin/heimdall'), 'run', ...flags], { cwd, env, stdio: 'ignore' })
  while (!existsSync(said)) await delay(5)
  const entries = readFileSync(said, 'utf8').split('\0').filter(Boolean)
  const sheets = join(home, '.local/state/heimdall/runs/.kept')
  return {
    cwd,
    env: Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    ),
    async end() {
      spawnSync(process.execPath, [resolve('bin/hm'), 'kill', '--wait', AGENT], { cwd, env })
      while (readdirSync(sheets).length > 0) await delay(5)
    },
  }
}
