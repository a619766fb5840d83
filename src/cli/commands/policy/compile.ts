// heimdall policy compile: the snapshot of a bundle, as a shim loads it.
import type { Run } from '../../command.ts'
import type { policyCompile } from '../../table/policy.ts'
import { loadSnapshot } from './file.ts'

export const run: Run<typeof policyCompile> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  return { data: snapshot, text: flags.hash === true ? snapshot.policy_hash : JSON.stringify(snapshot, null, 2) }
}
