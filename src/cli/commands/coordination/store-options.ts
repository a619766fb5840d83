// What the configuration says about opening the repository's store; light, because a check needs it.
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
  // The default is nobody's word: only what somebody has set makes a caller more patient than the repository.
  return {
    project: findProject(cwd, env),
    env,
    clock,
    staleMinutes: stale.origin === 'default' ? undefined : stale.value,
  }
}
