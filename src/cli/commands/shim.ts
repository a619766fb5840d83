// `heimdall shim` and `sub shim`: an MCP server behind policy.
import type { Run } from '../command.ts'
import type { shim } from '../table/policy.ts'
import { HeimdallError } from '../../errors.ts'
import { runShim } from '../../shim/shim.ts'
import { shimOptions } from '../../shim/options.ts'

export const run: Run<typeof shim> = async (context, { flags, rest }) => {
  if (rest.length === 0)
    throw new HeimdallError('USAGE', 'no server to start: give its command line after --', {
      hint: `${context.calledAs} --server-name=git -- npx mcp-server-git`,
    })
  const { stdin, stdout, stderr } = context
  const exit = await runShim({
    ...shimOptions(flags, context.env, context.isSeedName),
    command: rest,
    env: context.env,
    cwd: context.cwd,
    clock: context.clock,
    parentPid: () => process.ppid,
    signals: process,
    stdin,
    stdout,
    stderr,
  })
  // All that somebody reads has been taken by now. What nobody reads would keep the process alive for ever, and the
  // streams of a process cannot be destroyed.
  process.exit(exit)
}
