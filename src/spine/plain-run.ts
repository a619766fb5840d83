// A plain command as one run, as `sub run` starts it: the variables of seed 004 §5, without a terminal or an identity.
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { createIdSource } from '../id-source.ts'
import { type Env, runsDirOf } from '../paths.ts'
import { userName } from '../person.ts'
import { NO_POLICY_NAMES } from '../policy/bundle/no-policy.ts'
import { keepOwnedRun } from '../runs/kept-record.ts'
import { folderOf } from '../runs/open-run.ts'
import { openOwnedRun, type OwnedRun, type RunStatus } from '../runs/owned-run.ts'
import { startOf } from '../runs/process-start.ts'
import { readIdentity } from '../runs/run-identity.ts'
import { recordPath } from '../runs/run-log.ts'
import { onTerminated } from '../runs/run-wakeup.ts'
import { refuseRunOfAnother } from '../runs/whose-run.ts'
import { checkCommand } from '../sessions/command.ts'

export interface PlainRunOptions {
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  readonly note: (line: string) => void
  /** Stdin is a terminal, which sends Ctrl-C to the command itself. */
  readonly isTerminal: boolean
  /** Where the command writes its stdout. */
  readonly stdout: 'inherit' | 2
  readonly named: Readonly<Record<'run' | 'agent' | 'env' | 'principal', string | undefined>> & {
    readonly client: string
  }
  /** Called once the run is open, before the command starts. */
  readonly onOpen: (runId: string) => void
}

interface PlainRun {
  readonly run_id: string
  readonly exit_code: number
  readonly status: RunStatus
  readonly record: string
}

/** Returns when the command has ended and its run is closed. */
export async function runPlain(options: PlainRunOptions): Promise<PlainRun> {
  const { command, cwd, env, clock, note, named } = options
  const [program, ...args] = command
  checkCommand({ cwd, command }, env)
  if (named.run !== undefined) refuseRunOfAnother(join(runsDirOf(env), folderOf(named.run)), named.run, process.pid)
  const variables = variablesFor(options)
  const owned = ownedBy(options, variables)
  const runDir = join(owned.runsDir, owned.folder)
  await openOwnedRun(owned, clock)
  const record = await keepOwnedRun(owned, clock, (line) => note(`warning: ${line}`))
  options.onOpen(variables.SUB_RUN_ID)
  const { code, status } = await settled(
    () => spawn(program, args, { cwd, env: { ...env, ...variables }, stdio: ['inherit', options.stdout, 'inherit'] }),
    { runDir, isTerminal: options.isTerminal, note },
  )
  if ((await record?.close(status)) === false)
    note('warning: the run is not closed yet: a process that the command started still takes part in it')
  return { run_id: variables.SUB_RUN_ID, exit_code: code, status, record: recordPath(runDir) }
}

/** An outer run's agent, environment and principal are kept unless flags say otherwise; its id is not. */
function variablesFor({ env, clock, named }: PlainRunOptions) {
  return {
    SUB_RUN_ID: named.run ?? createIdSource(clock)(),
    SUB_AGENT_ID: named.agent ?? (env['SUB_AGENT_ID'] || 'unknown'),
    SUB_CLIENT: named.client,
    SUB_ENV: named.env ?? (env['SUB_ENV'] || ((env['CI'] ?? '') === '' ? 'dev' : 'ci')),
    SUB_PRINCIPAL: named.principal ?? (env['SUB_PRINCIPAL'] || userName()),
  }
}

function ownedBy({ env, clock, note, cwd }: PlainRunOptions, variables: ReturnType<typeof variablesFor>): OwnedRun {
  const start = startOf(process.pid)
  if (start === undefined) throw new HeimdallError('PROCESSES_UNREADABLE', 'this process cannot be found')
  const { policy_id, version: policy_version, policy_hash, mode } = NO_POLICY_NAMES
  const runId = variables.SUB_RUN_ID
  return {
    runsDir: runsDirOf(env),
    folder: folderOf(runId),
    identity: { run_id: runId, ...readIdentity({ ...env, ...variables }, cwd, note) },
    start: {
      started_at: new Date(clock.wallMs()).toISOString(),
      mode,
      policy: { policy_id, policy_version, policy_hash },
    },
    supervisor: { pid: process.pid, start },
  }
}

interface Watched {
  readonly runDir: string
  readonly isTerminal: boolean
  readonly note: (line: string) => void
}

/** Forwards signals to the command, and ends it when a policy ends the run. */
async function settled(
  start: () => ChildProcess,
  { runDir, isTerminal, note }: Watched,
): Promise<{ readonly code: number; readonly status: RunStatus }> {
  const asked: { by: 'caller' | 'policy' | null } = { by: null }
  const pass = (signal: NodeJS.Signals): void => {
    asked.by ??= 'caller'
    // A terminal sends SIGINT to all of its processes itself.
    if (signal !== 'SIGINT' || !isTerminal) child.kill(signal)
  }
  // Before the command starts, which may be signalled at once.
  for (const signal of PASSED) process.on(signal, pass)
  const child = start()
  const wakeup = onTerminated(
    runDir,
    () => {
      asked.by = 'policy'
      child.kill('SIGTERM')
    },
    note,
  )
  try {
    const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('exit', (...end) => resolve(end)).once('error', reject)
    })
    const code = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
    return { code, status: statusOf(code, asked.by) }
  } finally {
    wakeup?.close()
    for (const signal of PASSED) process.off(signal, pass)
  }
}

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function statusOf(code: number, askedBy: 'caller' | 'policy' | null): RunStatus {
  if (askedBy === 'policy') return 'TERMINATED'
  if (code === 0) return 'SUCCEEDED'
  return askedBy === 'caller' ? 'CANCELLED' : 'FAILED'
}
