// A policy as events name it.
import type { PolicyRef } from '../events/types.ts'
import type { Policy } from '../policy/decide/plan.ts'

export function refOf({ snapshot }: Policy): PolicyRef {
  return { policy_id: snapshot.policy_id, policy_version: snapshot.version, policy_hash: snapshot.policy_hash }
}
