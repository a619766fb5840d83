// heimdall mcp shim, sub shim: an MCP server behind policy, started here or reached over HTTP.
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context, InputOf, Run } from '../command.ts'
import type { shim } from './mcp.ts'
import { CONFIG_KEYS, loadConfig } from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { EarlySignals } from '../../shim/early-signals.ts'
import { retentionOf } from '../../runs/retention.ts'
import { runShim, type ShimOptions } from '../../shim/shim.ts'
import { shimOptions } from '../../shim/options.ts'

export const run: Run<typeof shim> = async (context, input) => {
  // Node prints warnings to stderr, where clients may expect only events.
  process.removeAllListeners('warning')
  const signals = new EarlySignals(process)
  const exit = await shimOf(context, input, { signals, parent: process.ppid, parentPid: () => process.ppid })
  // All output that has a reader is flushed. A pipe without a reader would keep the process alive, and the standard
  // streams cannot be destroyed.
  process.exit(exit)
}

/** Runs the shim and returns its exit code; signals and the parent process are passed in, for tests. */
export async function shimOf(
  context: Context,
  { flags, rest }: InputOf<typeof shim>,
  around: Pick<ShimOptions, 'signals' | 'parent' | 'parentPid'>,
): Promise<number> {
  const { env, cwd, clock, stdin, stdout, stderr } = context
  return runShim({
    ...shimOptions(flags, { command: rest, ledgerServer: ledgerServer(process.argv[1]) }, env, context.isSeedName),
    sessionSocket: () => sessionSocket(context),
    ...(await runSettings(context)),
    ...around,
    env,
    platform: process.platform,
    cwd,
    clock,
    stdin,
    stdout,
    stderr,
  })
}

/** Next to the launcher that runs now. */
function ledgerServer(launcher: string | undefined): string | undefined {
  return launcher === undefined ? undefined : join(dirname(realpathSync(launcher)), 'heimdall-ledger-mcp')
}

/** With an unreadable config file the defaults apply: the agent keeps its server. */
async function runSettings({
  cwd,
  env,
  configFile,
}: Context): Promise<Pick<ShimOptions, 'quietMs' | 'keepRuns' | 'notes'>> {
  try {
    const config = await loadConfig({ cwd, env, file: configFile })
    return { quietMs: Number(config.run_quiet_seconds.value) * 1_000, keepRuns: retentionOf(config), notes: [] }
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    // Nothing is pruned while the retention setting is unknown.
    const quietMs = CONFIG_KEYS.run_quiet_seconds.default * 1_000
    return { quietMs, keepRuns: { ageMs: null, bytes: null }, notes: [`${error.message}; using defaults`] }
  }
}

/** Loaded at the first question to a human, which most shims never have. */
async function sessionSocket(context: Context): Promise<string | undefined> {
  const { sessionAround } = await import('../session-flags.ts')
  const { socketDirOf } = await import('../session-flags.ts')
  const { sessionPaths } = await import('../../wire/session-paths.ts')
  const dir = await socketDirOf(context, { 'socket-dir': undefined })
  const id = await sessionAround(context, dir)
  return id === undefined ? undefined : sessionPaths(dir, id).socket
}
