// A guarded repository with agents that hold paths, and git run as any of them.
import { spawnSync } from 'node:child_process'
import { systemClock } from '../../src/clock.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { type Coordination, openCoordination } from '../../src/coordination/coordination.ts'
import { register } from '../../src/coordination/who/registration.ts'
import { type Envelope, listEvents } from '../../src/coordination/protocol.ts'
import { findProject } from '../../src/paths.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

export interface AgentEnv {
  readonly HEIMDALL_HAID: string
  readonly HEIMDALL_SECRET: string
}

export interface GitEnding {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface GuardedRepository {
  readonly project: TemporaryProject
  readonly amber: AgentEnv
  readonly cobalt: AgentEnv
  /** Runs git as an agent, or as nobody in particular when `env` is empty. */
  git(env: Partial<AgentEnv>, args: readonly string[], cwd?: string): GitEnding
  /** Runs git as a person at a terminal; what it says is what the terminal shows. */
  gitByPerson(args: readonly string[]): Promise<{ code: number; shown: string }>
  /** Stages and commits one change of a file. */
  commit(env: Partial<AgentEnv>, path: string, ...flags: string[]): GitEnding
  incursions(): Envelope[]
  inRoom<T>(act: (room: Coordination) => Promise<T>): Promise<T>
}

/**
 * Left to init before it begins: whoever runs the tests, an agent perhaps, is not above it, and would be taken for the
 * one who commits. The exit code comes on fd 3.
 */
const BELOW_INIT = '{ while kill -0 $$ 2>/dev/null; do :; done; "$@" 3>&-; echo $? >&3; } &'

/** These start no hook of ours, so it does not matter whose they are. */
const WITHOUT_HOOKS: ReadonlySet<string> = new Set(['add', 'init', 'log', 'mv', 'reset', 'rev-parse', 'rm', 'switch'])

/** amber-otter holds `src/api/**`, cobalt-harbor holds nothing. */
export async function guardedRepository(
  prepare: (project: TemporaryProject) => void = () => undefined,
): Promise<GuardedRepository> {
  const project = temporaryProject()
  prepare(project)
  const installed = await project.run('heimdall', ['guard', 'install'])
  if (installed.code !== 0) throw new Error(installed.stderr)
  const { env } = project
  const open = (): Coordination =>
    openCoordination({ project: findProject(project.root, env), env, clock: systemClock, staleMinutes: 15 })
  const inRoom = async <T>(act: (room: Coordination) => Promise<T>): Promise<T> => {
    const room = open()
    try {
      return await act(room)
    } finally {
      room.store.close()
    }
  }
  const enter = async (name: string): Promise<AgentEnv> => {
    const { agent, secret } = await inRoom((room) => register(room, { name, role: 'agent' }))
    return { HEIMDALL_HAID: agent.haid, HEIMDALL_SECRET: secret }
  }
  const [amber, cobalt] = [await enter('amber-otter'), await enter('cobalt-harbor')]
  await inRoom(async (room) => hold(room, amber, ['src/api/**']))
  const run = (env: Partial<AgentEnv>, args: readonly string[], cwd = project.root): GitEnding => {
    const options = { cwd, env: { PATH: process.env['PATH'], ...project.env, ...env }, encoding: 'utf8' } as const
    if (WITHOUT_HOOKS.has(args[0] ?? '')) {
      const { status, stdout, stderr } = spawnSync('git', args, options)
      return { code: status, stdout, stderr }
    }
    const { output } = spawnSync('sh', ['-c', BELOW_INIT, 'sh', 'git', ...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    const [, stdout, stderr, code] = output
    return { code: Number(code), stdout: stdout ?? '', stderr: stderr ?? '' }
  }
  return {
    project,
    amber,
    cobalt,
    git: run,
    async gitByPerson(args) {
      const terminal = ownTerminal(['git', ...args], { cwd: project.root, env: project.env })
      const code = await terminal.ended
      return { code, shown: terminal.written() }
    },
    commit(env, path, ...flags) {
      project.write(path, `${path} ${Math.random()}\n`)
      run(env, ['add', '--', path])
      return run(env, ['commit', '--message', `change ${path}`, ...flags])
    },
    incursions() {
      const room = open()
      try {
        return listEvents(room, { types: ['INCURSION'] })
      } finally {
        room.store.close()
      }
    },
    inRoom,
  }
}

export async function hold(room: Coordination, env: AgentEnv, scopes: readonly string[]): Promise<void> {
  const result = await claimScopes(
    room,
    { kind: 'agent', haid: env.HEIMDALL_HAID, secret: env.HEIMDALL_SECRET },
    { scopes, cwd: room.project.root, task: 'T-1', ttlMinutes: 90 },
  )
  if (!result.granted) throw new Error(`not granted: ${JSON.stringify(result.conflicts)}`)
}
