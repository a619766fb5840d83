// heimdall doctor: what Heimdall needs, whether it is there, and what to do if not.
import { runChecks } from '../doctor.ts'
import type { Run } from '../command.ts'
import { checkLine } from '../render/check-line.ts'
import type { doctor } from '../table/core.ts'

export const run: Run<typeof doctor> = async (context, { flags }) => {
  const checks = await runChecks(context, { fixes: flags.fix === true, security: flags.security === true })
  const failed = checks.some(({ state }) => state === 'fail')
  return {
    data: { checks },
    text: checks.map((check) => checkLine(context.style, check)).join('\n'),
    exit: failed ? 1 : 0,
  }
}
