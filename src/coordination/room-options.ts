// What the configuration says about opening the repository's store; light, because a check needs it.
import { loadConfig } from '../config.ts'
import type { CoordinationOptions } from './coordination.ts'
import { HeimdallError } from '../errors.ts'
import type { Clock } from '../clock.ts'
import { type Env, findProject } from '../paths.ts'

export interface Surroundings {
  readonly cwd: string
  readonly env: Env
  readonly clock: Clock
  /** `--config`. */
  readonly configFile?: string | undefined
  /** Of doors that may change something. */
  readonly fleet?: CoordinationOptions['fleet']
}

export async function roomOptions({ cwd, env, clock, configFile, fleet }: Surroundings): Promise<CoordinationOptions> {
  const { agent_stale_minutes: stale } = await loadConfig({ cwd, env, file: configFile })
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
    fleet,
    staleMinutes: stale.origin === 'default' ? undefined : stale.value,
  }
}
