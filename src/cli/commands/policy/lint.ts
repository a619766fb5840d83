// heimdall policy lint: every problem of a bundle with its line, and every rule that cannot do what it looks like.
import { EXIT, HeimdallError } from '../../../errors.ts'
import { compileBundle } from '../../../policy/bundle/compile.ts'
import { type Finding, lintSnapshot } from '../../../policy/bundle/lint.ts'
import { type Problem, problemText } from '../../../policy/bundle/problems.ts'
import type { Run } from '../../command.ts'
import type { policyLint } from '../../table/policy.ts'
import { readPolicyFile } from './file.ts'

export const run: Run<typeof policyLint> = async (context, { args, flags }) => {
  const text = await readPolicyFile(context, args.file)
  try {
    const snapshot = await compileBundle(text, { name: args.file })
    const findings = lintSnapshot(snapshot)
    const isClean = !findings.some(({ level }) => level === 'dead' || level === 'warn')
    return {
      data: { valid: true, policy_hash: snapshot.policy_hash, problems: [], findings },
      text: [
        ...findings.map((finding) => findingText(args.file, finding)),
        `${args.file}: valid, ${snapshot.rules.length} rules, hash ${snapshot.policy_hash}`,
      ].join('\n'),
      ...(flags.strict === true && !isClean ? { exit: EXIT.failure } : {}),
    }
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'POLICY_INVALID') throw error
    const problems = (error.details?.['problems'] ?? []) as readonly Problem[]
    return {
      data: { valid: false, policy_hash: null, problems, findings: [] },
      text: problems.map((problem) => problemText(args.file, problem)).join('\n'),
      exit: EXIT.failure,
    }
  }
}

function findingText(file: string, { level, rule_id, message }: Finding): string {
  return `${file}: ${level}: ${rule_id === null ? '' : `${rule_id} `}${message}`
}
