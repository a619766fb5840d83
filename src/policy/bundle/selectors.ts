// Who a policy is for (seed 004 §2.2): fields are ANDed, lists are ORed, comparison is exact.
import type { Subject, Selectors } from '../types.ts'

export function isSelected(selectors: Selectors, identity: Subject): boolean {
  const { workload } = selectors
  const own = identity.workload ?? {}
  return (
    isListed(selectors.env, identity.env) &&
    isListed(selectors.agent_id, identity.agent_id) &&
    isListed(selectors.client, identity.client) &&
    isListed(workload?.namespace, own.namespace) &&
    isListed(workload?.service_account, own.service_account) &&
    isListed(workload?.repo, own.repo) &&
    isListed(workload?.branch, own.branch) &&
    Object.entries(workload?.labels ?? {}).every(
      ([key, value]) => own.labels !== undefined && Object.hasOwn(own.labels, key) && own.labels[key] === value,
    )
  )
}

/** No list matches all; an unknown value is on no list. */
function isListed(list: readonly string[] | undefined, value: string | undefined): boolean {
  return list === undefined || (value !== undefined && list.includes(value))
}
