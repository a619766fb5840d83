// What a worker announces of itself: gathered from its host, its repository and its servers, and not typed in.
import type { Clock } from '../../clock.ts'
import { GIT_AT_START_MS, WORKER_TTL_S } from '../../limits.ts'
import type { Env, Project } from '../../paths.ts'
import { hasWork, lookAtWorktree } from '../../spine/worktree-state.ts'
import { type Announce, DISPATCH_PROTOCOL } from '../messages.ts'
import { repositoryIds } from '../peers.ts'
import type { RuntimeName } from '../runner/order.ts'
import type { Learned } from './learned.ts'
import type { McpProbes, ProbedServer } from './mcp-probe.ts'

export interface ProfileSources {
  readonly workerId: string
  readonly instanceId: string
  readonly runtime: RuntimeName
  /** What a person has said of it goes before what is found. */
  readonly told: { readonly model?: string; readonly tier?: string; readonly tools?: readonly string[] }
  /** By the host's own settings. */
  readonly configuredModel: () => string | undefined
  readonly learned: Learned
  readonly contextWindow: number
  readonly maxConcurrent: number
  readonly worktrees: boolean
  readonly budgetEnforcement: Announce['budget_enforcement']
  readonly servers: () => readonly ProbedServer[]
  readonly probes: McpProbes
  readonly project: Project
  readonly env: Env
  readonly clock: Clock
  readonly url: () => string | undefined
}

export async function gatherProfile(
  of: ProfileSources,
  keptMs: number,
  needed?: readonly string[],
): Promise<Omit<Announce, 'state' | 'seq' | 'running'>> {
  const servers = of.servers()
  const [health, tree, repository] = await Promise.all([
    of.probes.health(servers, keptMs, needed),
    lookAtWorktree(of.project, of.env, GIT_AT_START_MS),
    repositoryIds(of.project, of.env),
  ])
  const url = of.url()
  const model = of.told.model ?? of.learned.model ?? of.configuredModel() ?? ''
  const unreached = of.learned.unreached(of.clock.wallMs())
  return {
    type: 'SESSION_ANNOUNCE',
    protocol_version: DISPATCH_PROTOCOL,
    worker: {
      agent_id: of.workerId,
      model,
      model_tier: of.told.tier ?? tierOf(model),
      context_window: of.contextWindow,
    },
    capabilities: {
      tools: [...(of.told.tools ?? of.learned.tools ?? RUNTIME_TOOLS[of.runtime])],
      mcp_servers: servers.map(({ name }) => name),
    },
    mcp_health: Object.fromEntries([...health].map(([name, { state }]) => [name, unreached.get(name) ?? state])),
    session: {
      context_id: `handshake:${of.workerId}`,
      active_tasks: 0,
      // Without git there is nothing to be clean: what cannot be told apart from work is no obstacle.
      repo_state: { branch: tree?.branch ?? null, clean: tree === undefined || !hasWork(of.project, tree) },
      session_fresh: true,
    },
    instance_id: of.instanceId,
    issued_at: new Date(of.clock.wallMs()).toISOString(),
    ttl_s: WORKER_TTL_S,
    max_concurrent: of.maxConcurrent,
    worktrees: of.worktrees,
    repository,
    budget_enforcement: of.budgetEnforcement,
    ...(url === undefined ? {} : { url }),
    features: ['usage', 'typed-blocks', 'scopes'],
    mcp_checked: Object.fromEntries(
      [...health].map(([name, { checkedMs, latencyMs }]) => [
        name,
        { checked_at: new Date(checkedMs).toISOString(), latency_ms: latencyMs },
      ]),
    ),
  }
}

/** By the name that the vendor gave the model; of others nothing is guessed. */
function tierOf(model: string): string {
  return /haiku|sonnet|opus/i.exec(model)?.[0].toLowerCase() ?? 'unknown'
}

/** Tools that a runtime has by itself, in the seed's words, until it has said so. */
const RUNTIME_TOOLS: Readonly<Record<RuntimeName, readonly string[]>> = {
  claude: ['terminal', 'file', 'patch', 'browser'],
  codex: ['terminal', 'file', 'patch'],
  command: ['terminal', 'file'],
}
