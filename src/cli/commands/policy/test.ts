// heimdall policy test: cases with expected decisions against a bundle.
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { type CaseFile, readCases, runCases } from '../../../policy/bundle/cases.ts'
import { compileBundle } from '../../../policy/bundle/compile.ts'
import { shellWord } from '../../../spine/fleet/plain-words.ts'
import type { Context, Run } from '../../command.ts'
import type { policyTest } from '../../table/policy.ts'
import { loadSnapshot, readPolicyFile } from './file.ts'

export const run: Run<typeof policyTest> = async (context, { args, flags }) => {
  const { policy, cases } = await casesIn(context, args.file)
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

async function casesIn(context: Context, file: string): Promise<CaseFile> {
  const text = await readPolicyFile(context, file)
  try {
    return await readCases(text, file)
  } catch (error) {
    if (!isInvalid(error) || !(await isPolicy(text, file))) throw error
    const beside = `${file.replace(/\.(ya?ml|json)$/, '')}.cases.yaml`
    throw new HeimdallError('POLICY_INVALID', `${file} is a policy: its cases are in a file of their own`, {
      hint: existsSync(context.resolve(beside))
        ? `heimdall policy test ${shellWord(beside)}`
        : `write them to ${beside}, with a line policy: ${basename(file)}; docs/policy.md says how`,
      cause: error,
    })
  }
}

async function isPolicy(text: string, file: string): Promise<boolean> {
  try {
    await compileBundle(text, { name: file })
    return true
  } catch (error) {
    if (!isInvalid(error)) throw error
    return false
  }
}

const isInvalid = (error: unknown): boolean => error instanceof HeimdallError && error.code === 'POLICY_INVALID'
