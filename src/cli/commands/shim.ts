// `heimdall shim` and `sub shim`: an MCP server behind policy, started here or reached by HTTP.
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Context, InputOf, Run } from '../command.ts'
import type { shim } from '../table/policy.ts'
import { CONFIG_KEYS, loadConfig } from '../../config.ts'
import { HeimdallError } from '../../errors.ts'
import { EarlySignals } from '../../shim/early-signals.ts'
import { retentionOf } from '../../runs/retention.ts'
import { runShim, type ShimOptions } from '../../shim/shim.ts'
import { shimOptions } from '../../shim/options.ts'

export const run: Run<typeof shim> = async (context, input) => {
  // Node prints warnings to stderr, where events may be expected and nothing else; the shim says them as its own.
  process.removeAllListeners('warning')
  const signals = new EarlySignals(process)
  const exit = await shimOf(context, input, { signals, parent: process.ppid, parentPid: () => process.ppid })
  // All that somebody reads has been taken by now. What nobody reads would keep the process alive for ever, and the
  // streams of a process cannot be destroyed.
  process.exit(exit)
}

/** Runs the shim that the command line describes and returns its exit code; what belongs to the process comes from the caller. */
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

/** Beside the launcher that runs now. */
function ledgerServer(launcher: string | undefined): string | undefined {
  return launcher === undefined ? undefined : join(dirname(realpathSync(launcher)), 'heimdall-ledger-mcp')
}

/** A file of settings that cannot be read is no reason to leave an agent without its server. */
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
    // Nothing is removed while nobody knows what was to be kept.
    const quietMs = CONFIG_KEYS.run_quiet_seconds.default * 1_000
    return { quietMs, keepRuns: { ageMs: null, bytes: null }, notes: [`${error.message}; defaults hold`] }
  }
}

/** Loaded when a person is first asked: most shims never do. */
async function sessionSocket(context: Context): Promise<string | undefined> {
  const { sessionAround } = await import('./session/locate.ts')
  const { socketDirOf } = await import('./session/socket-dir.ts')
  const { sessionPaths } = await import('../../wire/session-paths.ts')
  const dir = await socketDirOf(context, { 'socket-dir': undefined })
  const id = await sessionAround(context, dir)
  return id === undefined ? undefined : sessionPaths(dir, id).socket
}
