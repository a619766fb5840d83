// What a worker says of itself: what its flags tell, and where the rest is looked up.
import type { Coordination } from '../../../coordination/coordination.ts'
import type { RuntimeName } from '../../../dispatch/runner/order.ts'
import type { Learned } from '../../../dispatch/worker/learned.ts'
import { McpProbes, type ProbedServer } from '../../../dispatch/worker/mcp-probe.ts'
import { gatherProfile } from '../../../dispatch/worker/profile.ts'
import type { DeskOptions } from '../../../dispatch/worker/worker-desk.ts'
import { configuredModel } from '../../../hosts/host-model.ts'
import { hostServers } from '../../../hosts/host-servers.ts'
import type { HostName } from '../../../hosts/host-table.ts'
import type { Context, InputOf } from '../../command.ts'
import type { workerStart } from '../../table/dispatch.ts'

type Flags = InputOf<typeof workerStart>['flags']

export function profileFrom(
  context: Context,
  flags: Flags,
  room: Coordination,
  about: {
    runtime: RuntimeName
    command: readonly string[]
    workerId: string
    instanceId: string
    learned: Learned
    url: () => string | undefined
  },
): DeskOptions['profile'] {
  const { env, clock, cwd } = context
  const { runtime } = about
  const host = flags.servers ?? (runtime === 'command' ? 'none' : runtime)
  const where = { env, cwd, platform: process.platform }
  const { tools } = flags
  const sources = {
    ...about,
    told: {
      ...(flags.model === undefined ? {} : { model: flags.model }),
      ...(flags.tier === undefined ? {} : { tier: flags.tier }),
      ...(tools === undefined ? {} : { tools: tools.split(',').map((tool) => tool.trim()) }),
    },
    configuredModel: () => (runtime === 'command' ? undefined : configuredModel(runtime, about.command, where)),
    contextWindow: flags.window,
    maxConcurrent: flags.slots,
    worktrees: flags['no-worktree'] !== true && room.project.gitCommonDir !== undefined,
    budgetEnforcement: runtime === 'command' ? ('none' as const) : ('measured' as const),
    servers: (): readonly ProbedServer[] => (host === 'none' ? [] : serversOf(host, env, cwd)),
    probes: new McpProbes(env, clock),
    project: room.project,
    env,
    clock,
  }
  return (keptMs) => gatherProfile(sources, keptMs)
}

/** By name; the file that comes last in the host's own order wins there, and here. */
function serversOf(host: HostName, env: Context['env'], cwd: string): ProbedServer[] {
  return [
    ...new Map(
      hostServers(host, { env, cwd, platform: process.platform }).map(({ name, start }) => [name, { name, start }]),
    ).values(),
  ]
}
