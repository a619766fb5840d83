// heimdall doctor: what Heimdall needs, whether it is there, and what to do if not.
import type { Check } from '../doctor.ts'
import { runChecks } from '../doctor.ts'
import type { Run } from '../command.ts'
import type { Style } from '../render/style.ts'
import type { doctor } from '../table/core.ts'

export const run: Run<typeof doctor> = async (context) => {
  const checks = await runChecks(context)
  const failed = checks.some(({ state }) => state === 'fail')
  return { data: { checks }, text: checks.map((check) => line(context.style, check)).join('\n'), exit: failed ? 1 : 0 }
}

function line(style: Style, { check, state, found, fix }: Check): string {
  const paint = { ok: style.color.green, warn: style.color.yellow, fail: style.color.red }[state]
  return `${paint(state.padEnd(4))}  ${check.padEnd(14)}  ${found}${fix === null ? '' : `\n      ${' '.repeat(14)}  fix: ${fix}`}`
}
