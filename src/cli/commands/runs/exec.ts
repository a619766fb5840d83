// heimdall runs exec, sub run: a command as one run, with the variables of seed 004 §5 and nothing around it.
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { HeimdallError } from '../../../errors.ts'
import { createIdSource } from '../../../id-source.ts'
import { printable } from '../../../ids.ts'
import { agentAbove, userName } from '../../../person.ts'
import { NO_POLICY_NAMES } from '../../../policy/bundle/no-policy.ts'
import { folderOf } from '../../../runs/open-run.ts'
import { keepOwnedRun } from '../../../runs/kept-record.ts'
import { openOwnedRun, type OwnedRun, type RunStatus } from '../../../runs/owned-run.ts'
import { startOf } from '../../../runs/process-start.ts'
import { runsDirOf } from '../../../paths.ts'
import { readIdentity } from '../../../runs/run-identity.ts'
import { recordPath } from '../../../runs/run-log.ts'
import { followOrders } from '../../../runs/run-orders.ts'
import { refuseRunOfAnother } from '../../../runs/whose-run.ts'
import { checkCommand } from '../../../sessions/command.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import type { runsExec } from '../../table/runs.ts'

export const run: Run<typeof runsExec> = async (context, { flags, rest }) => {
  const { clock, env, note, json, stdout, cwd } = context
  const [program, ...args] = rest
  if (program === undefined)
    throw new HeimdallError('USAGE', 'no command to run', { hint: `put it after --: ${context.calledAs} -- COMMAND` })
  // Of a variable that was not set: all who make this mistake would share one run.
  for (const name of ['run', 'agent'] as const)
    if (flags[name] === '') throw new HeimdallError('USAGE', `--${name} is empty`, { hint: 'leave it out' })
  checkCommand({ cwd, command: rest }, env)
  if (flags.run !== undefined) refuseRunOfAnother(join(runsDirOf(env), folderOf(flags.run)), flags.run, process.pid)
  if (flags.agent !== undefined) await refuseNameOfAnother(context, flags.agent)
  const variables = variablesFor(context, flags)
  const owned = ownedBy(context, variables)
  const runDir = join(owned.runsDir, owned.folder)
  await openOwnedRun(owned, clock)
  const record = await keepOwnedRun(owned, clock, (line) => note(`warning: ${line}`))
  if (flags['print-run-id'] === true && !json) stdout.write(`${variables.SUB_RUN_ID}\n`)
  const { code, status } = await settled(
    // Stdout is the command's, unless it is to be one envelope.
    () =>
      spawn(program, args, { cwd, env: { ...env, ...variables }, stdio: ['inherit', json ? 2 : 'inherit', 'inherit'] }),
    { runDir, isTerminal: context.stdin.isTTY, note },
  )
  if ((await record?.close(status)) === false)
    note('warning: the run is not closed yet: something that the command has started takes part in it still')
  return {
    data: { run_id: variables.SUB_RUN_ID, exit_code: code, status, record: recordPath(runDir) },
    text: '',
    exit: code,
  }
}

/** Whoever has an identity acts as that one: an agent writes no record in another's name. */
async function refuseNameOfAnother(context: Context, named: string): Promise<void> {
  if (agentAbove() === undefined) return
  // Loaded here: a script in CI has no agent above it, and no store to ask.
  const { callerOf, withRoomToRead } = await import('../../coordination-door.ts')
  const own = await withRoomToRead(
    context,
    (room) => callerOf(context, room).agent?.agentId,
    () => undefined,
  )
  if (own === undefined || own === named) return
  throw new HeimdallError('IDENTITY_BORROWED', `${own} may not act as ${printable(named)}`, {
    hint: 'leave --agent away; heimdall whoami explains',
  })
}

type Flags = InputOf<typeof runsExec>['flags']

/** Whatever an outer run says of itself is not said of this one. */
function variablesFor({ env, clock }: Context, flags: Flags) {
  return {
    SUB_RUN_ID: flags.run ?? createIdSource(clock)(),
    SUB_AGENT_ID: flags.agent ?? (env['SUB_AGENT_ID'] || 'unknown'),
    SUB_CLIENT: flags.client,
    SUB_ENV: flags.env ?? (env['SUB_ENV'] || ((env['CI'] ?? '') === '' ? 'dev' : 'ci')),
    SUB_PRINCIPAL: flags.principal ?? (env['SUB_PRINCIPAL'] || userName()),
  }
}

function ownedBy({ env, clock, note, cwd }: Context, variables: ReturnType<typeof variablesFor>): OwnedRun {
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

/** The command hears the signals that its caller was sent, and of a policy that ends the run. */
async function settled(
  start: () => ChildProcess,
  { runDir, isTerminal, note }: Watched,
): Promise<{ readonly code: number; readonly status: RunStatus }> {
  const asked: { by: 'caller' | 'policy' | null } = { by: null }
  const pass = (signal: NodeJS.Signals): void => {
    asked.by ??= 'caller'
    // A terminal has told all of its processes itself.
    if (signal !== 'SIGINT' || !isTerminal) child.kill(signal)
  }
  // Before the command starts: whoever it tells that it runs may end it at once.
  for (const signal of PASSED) process.on(signal, pass)
  const child = start()
  const orders = followOrders(
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
    orders?.close()
    for (const signal of PASSED) process.off(signal, pass)
  }
}

const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function statusOf(code: number, askedBy: 'caller' | 'policy' | null): RunStatus {
  if (askedBy === 'policy') return 'TERMINATED'
  if (code === 0) return 'SUCCEEDED'
  return askedBy === 'caller' ? 'CANCELLED' : 'FAILED'
}
