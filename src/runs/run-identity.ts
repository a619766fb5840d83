// Who is at work: the `SUB_*` variables of seed 004 §5, and an id of this machine that stays.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { HeimdallError, isSystemError } from '../errors.ts'
import { printable } from '../ids.ts'
import { CLIENTS, ENVIRONMENTS, type RunIdentity } from '../events/types.ts'
import { type Env, stateDir } from '../paths.ts'
import { madeOnce } from '../storage/made-once.ts'
import { findWorkload, workloadProblem } from './workload.ts'

/** Everything but the run's id, which is known only once the run is joined. */
export function readIdentity(env: Env, cwd: string, note: (line: string) => void): Omit<RunIdentity, 'run_id'> {
  const workload = findWorkload(env, cwd)
  return {
    agent_id: filled(env['SUB_AGENT_ID']) ?? 'unknown',
    client: oneOf(CLIENTS, env['SUB_CLIENT']),
    env: oneOf(ENVIRONMENTS, env['SUB_ENV']),
    source: { host_id: hostId(env, note), proc_id: randomUUID(), shim_id: randomUUID() },
    ...given('principal', env['SUB_PRINCIPAL']),
    ...(workload === undefined ? {} : { workload }),
    ...given('haid', env['HEIMDALL_HAID']),
    ...given('session_id', env['HEIMDALL_SESSION_ID']),
  }
}

/** Why the `SUB_*` variables do not say who is at work; undefined where they do, or say nothing. */
export function identityProblem(env: Env): string | undefined {
  const problems = [
    unknownValue('SUB_ENV', env['SUB_ENV'], ENVIRONMENTS),
    unknownValue('SUB_CLIENT', env['SUB_CLIENT'], CLIENTS),
    workloadProblem(env['SUB_WORKLOAD']),
  ].filter((problem) => problem !== undefined)
  return problems.length === 0 ? undefined : problems.join('; ')
}

function unknownValue(name: string, value: string | undefined, allowed: readonly string[]): string | undefined {
  if (value === undefined || value === '' || allowed.includes(value)) return undefined
  return `${name} is ${printable(value)}, not one of ${allowed.join(', ')}`
}

function given<K extends string>(name: K, value: string | undefined): { readonly [name in K]?: string } {
  return value === undefined || value === '' ? {} : ({ [name]: value } as { readonly [name in K]: string })
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value
}

function oneOf<T extends string>(allowed: readonly T[], value: string | undefined): T | 'unknown' {
  return allowed.find((word) => word === value) ?? 'unknown'
}

/** A random id made once per machine and user. Without a place to keep it, one for this process. */
function hostId(env: Env, note: (line: string) => void): string {
  const made = randomUUID()
  try {
    return madeOnce(join(stateDir(env), 'host-id'), made)
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof HeimdallError && error.code !== 'STATE_UNSAFE')) throw error
    note(`this machine has no lasting id: ${error.message}`)
    return made
  }
}
