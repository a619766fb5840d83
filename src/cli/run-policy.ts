// The policy of `run` and `worker start`: compiled before anything is started, with a warning where it does not reach the host.
import { basename } from 'node:path'
import { NO_POLICY_NAMES } from '../policy/bundle/no-policy.ts'
import type { Snapshot } from '../policy/types.ts'
import type { RunWish } from '../spine/run-wish.ts'
import { HeimdallError } from '../errors.ts'
import { escapeControls } from '../ids.ts'
import type { Context } from './command.ts'

interface Started {
  readonly command: readonly string[]
  readonly cwd: string
}

/** An invalid policy is an error here, before the run starts; one that governs nothing is a warning. */
export async function policyFrom(
  context: Context,
  path: string | undefined,
  started: Started,
): Promise<RunWish['policy']> {
  if (path === undefined) return { file: undefined, ...namesOf(NO_POLICY_NAMES) }
  const file = context.resolve(path)
  const { loadSnapshot } = await import('./policy-file.ts')
  const snapshot = await loadSnapshot(context, file)
  const warning = await pastShim(context, snapshot.policy_id, started)
  if (warning !== undefined) context.note(`warning: ${escapeControls(warning)}`)
  return { file, ...namesOf(snapshot) }
}

/** What the policy does not reach in the host; undefined if all its MCP servers are behind the shim. */
async function pastShim({ env }: Context, policyId: string, { command, cwd }: Started): Promise<string | undefined> {
  const { hostOf } = await import('../hosts/own-tools.ts')
  const host = hostOf(basename(command[0] ?? ''))
  if (host === undefined) return undefined
  const [{ serversPastShim }, { HOSTS }] = await Promise.all([
    import('../hosts/host-servers.ts'),
    import('../hosts/host-table.ts'),
  ])
  const { title } = HOSTS[host]
  const own = 'its own tools (shell, editor) are not governed'
  try {
    const { all, past } = serversPastShim(host, { env, cwd, platform: process.platform })
    if (all === 0) return `policy ${policyId} governs nothing: ${title} has no MCP server behind the shim, and ${own}`
    if (past.length === 0) return undefined
    return `policy ${policyId} does not govern ${past.join(', ')}: heimdall mcp import ${host} puts MCP servers of ${title} behind the shim; ${own}`
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return `whether policy ${policyId} governs the MCP servers of ${title} is not known: ${error.message}`
  }
}

const namesOf = ({ policy_id, version, policy_hash, mode }: Pick<Snapshot, keyof typeof NO_POLICY_NAMES>) => ({
  mode,
  ref: { policy_id, policy_version: version, policy_hash },
})
