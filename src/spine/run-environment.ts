// What the command of a run finds in its environment: who it is, which run it is of, and the secret that proves it.
import { basename } from 'node:path'
import type { EnvEntry } from '../config.ts'
import { NAME_VARIABLES, SECRET_VARIABLE } from '../coordination/who/variables.ts'
import type { Env } from '../paths.ts'

/** Whatever an outer run, or whoever started it, says of somebody else. */
const OF_OTHERS = [
  SECRET_VARIABLE,
  ...NAME_VARIABLES,
  'HEIMDALL_ROLE',
  'HEIMDALL_RUN_DIR',
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_CLIENT',
] as const

/** The environment of the supervisor and the watcher: without an agent's identity and without secrets. */
export function environmentOfNobody(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_OTHERS.some((one) => one === name)))
}

export interface RunNames {
  readonly runId: string
  readonly runDir: string
  readonly agentId: string
  readonly haid: string
  readonly role: string
  readonly secret: string
  readonly command: readonly string[]
  readonly principal: string
  /** Absolute; nothing where the run has no policy of its own. */
  readonly policyFile: string | undefined
}

export function runVariables(names: RunNames, env: Env): EnvEntry[] {
  const variables: Record<string, string> = {
    HEIMDALL_AGENT_ID: names.agentId,
    HEIMDALL_HAID: names.haid,
    HEIMDALL_ROLE: names.role,
    HEIMDALL_RUN_DIR: names.runDir,
    [SECRET_VARIABLE]: names.secret,
    BB_AGENT: names.agentId,
    SUB_RUN_ID: names.runId,
    SUB_AGENT_ID: names.agentId,
    SUB_ENV: filled(env['SUB_ENV']) ?? ((env['CI'] ?? '') === '' ? 'dev' : 'ci'),
    SUB_CLIENT: clientOf(names.command),
    SUB_PRINCIPAL: filled(env['SUB_PRINCIPAL']) ?? names.principal,
    ...(names.policyFile === undefined ? {} : { SUB_POLICY_FILE: names.policyFile }),
  }
  return Object.entries(variables).map(([name, value]) => ({ name, value }))
}

/** In the words of seed 004 §1.3; who speaks through a shim says its own name there. */
function clientOf([program = '']: readonly string[]): string {
  const name = basename(program)
  return name === 'claude' || name === 'codex' ? name : 'custom'
}

const filled = (value: string | undefined): string | undefined => (value === '' ? undefined : value)
