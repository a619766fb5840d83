// What the environment and the configuration say about the caller; light, because a check needs it.
import { loadConfig } from '../../../config.ts'
import type { CoordinationOptions } from '../../../coordination/coordination.ts'
import { HeimdallError } from '../../../errors.ts'
import { findProject } from '../../../paths.ts'
import type { Context } from '../../command.ts'

export type CallerContext = Pick<Context, 'cwd' | 'env' | 'clock' | 'configFile'>

export async function optionsFor(context: CallerContext): Promise<CoordinationOptions> {
  const { cwd, env, clock } = context
  const { agent_stale_minutes: stale } = await loadConfig({ cwd, env, file: context.configFile })
  if (typeof stale.value !== 'number' || stale.value < 1)
    throw new HeimdallError(
      'CONFIG_INVALID',
      `agent_stale_minutes is ${JSON.stringify(stale.value)} (${stale.origin}), at least 1 is needed`,
    )
  return { project: findProject(cwd, env), env, clock, staleMinutes: stale.value }
}

/** The secret that `heimdall run` hands to its child: a session that has one is that agent and no other. */
export const SECRET_VARIABLE = 'HEIMDALL_SECRET'

/** Where a session says who it is; the first that is set counts. */
export const ACTOR_VARIABLES = ['HEIMDALL_HAID', 'HEIMDALL_AGENT_ID', 'BB_AGENT', 'BD_ACTOR'] as const

/** Who the environment says is calling, as a label. */
export function actorName({ env }: Pick<Context, 'env'>): string | undefined {
  return ACTOR_VARIABLES.map((name) => env[name]).find((name) => name !== undefined && name !== '')
}
