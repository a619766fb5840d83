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
  // Whoever does not read must not keep a shim alive that has ended.
  stdin.destroy()
  stdout.destroy()
  stderr.destroy()
  return { data: null, text: '', exit, streamed: true }
}
