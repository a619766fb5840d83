// What holds where nobody has given a policy: everything passes, and everything is written down.
import type { Snapshot } from '../types.ts'

export const NO_POLICY = JSON.stringify({
  policy_id: 'default',
  version: '0',
  mode: 'observe',
  defaults: { decision_on_error: 'ALLOW' },
  selectors: {},
  rules: [],
})

/** What compiling it gives: a run without policy says so without loading a compiler. A test holds it against that. */
export const NO_POLICY_NAMES: Pick<Snapshot, 'policy_id' | 'version' | 'mode' | 'policy_hash'> = {
  policy_id: 'default',
  version: '0',
  mode: 'observe',
  policy_hash: 'aa33e3aa0de3a8c2edbdff7ace0ca08b942f697b674e5a6e1aba328ac07246cc',
}
