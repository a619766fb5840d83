// heimdall policy test: cases with expected decisions against a bundle.
import { dirname, join } from 'node:path'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { readCases, runCases } from '../../../policy/bundle/cases.ts'
import type { Run } from '../../command.ts'
import type { policyTest } from '../../table/policy.ts'
import { loadSnapshot, readPolicyFile } from './file.ts'

export const run: Run<typeof policyTest> = async (context, { args, flags }) => {
  const { policy, cases } = await readCases(await readPolicyFile(context, args.file), args.file)
  const bundle = flags.policy ?? (policy === null ? undefined : join(dirname(args.file), policy))
  if (bundle === undefined)
    throw new HeimdallError('USAGE', `${args.file} names no policy`, {
      hint: 'add a line policy: FILE, or use --policy',
    })
  const snapshot = await loadSnapshot(context, bundle)
  const results = runCases(snapshot, cases)
  const failed = results.filter(({ passed }) => !passed)
  const lines = results.flatMap(({ name, passed, failures }) => [
    `${passed ? context.style.color.green('ok') : context.style.color.red('FAILED')} ${name}`,
    ...failures.map((failure) => `    ${failure}`),
  ])
  return {
    data: {
      policy: bundle,
      policy_hash: snapshot.policy_hash,
      passed: results.length - failed.length,
      failed: failed.length,
      results,
    },
    text: [...lines, `${results.length - failed.length} of ${results.length} cases passed`].join('\n'),
    ...(failed.length === 0 ? {} : { exit: EXIT.failure }),
  }
}
