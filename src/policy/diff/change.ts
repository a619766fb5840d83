// One thing that differs between two policies, and how grave it is.
import type { Severity } from '../types.ts'

export interface PolicyChange {
  /** `critical`: something that was refused, limited or governed may pass now. `warn`: agents, or people, will notice. `info`: the rest. */
  readonly severity: Severity
  readonly what: 'mode' | 'defaults' | 'selectors' | 'trust_annotations' | 'rule' | 'policy'
  readonly change: 'added' | 'removed' | 'moved' | 'changed'
  readonly rule_id: string | null
  /** What differs, and why it has that severity. */
  readonly reason: string
}
