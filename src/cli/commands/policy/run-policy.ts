// The policy of a run as its starter names it: compiled before anything is started.
import { NO_POLICY_NAMES } from '../../../policy/bundle/no-policy.ts'
import type { Snapshot } from '../../../policy/types.ts'
import type { RunWish } from '../../../spine/run-wish.ts'
import type { Context } from '../../command.ts'

/** A run is not begun under a policy that its shims would refuse. */
export async function policyFrom(context: Context, path: string | undefined): Promise<RunWish['policy']> {
  if (path === undefined) return { file: undefined, ...namesOf(NO_POLICY_NAMES) }
  const file = context.resolve(path)
  const { loadSnapshot } = await import('./file.ts')
  return { file, ...namesOf(await loadSnapshot(context, file)) }
}

const namesOf = ({ policy_id, version, policy_hash, mode }: Pick<Snapshot, keyof typeof NO_POLICY_NAMES>) => ({
  mode,
  ref: { policy_id, policy_version: version, policy_hash },
})
