// What lies beside the store and tells of agents: questions of policies, tools that have changed, how sessions ended. Most of it is not there most of the time, and then what reads it is not loaded.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { STATUS_SHOWN_MS } from '../../limits.ts'
import { type Env, type Project, runsDirOf } from '../../paths.ts'
import { pinsDir } from '../../pins/pins-folder.ts'
import type { Request } from '../../runs/approvals.ts'
import type { ExitRecord } from '../../sessions/keeper.ts'
import { namesIn } from '../../storage/folder-names.ts'
import { filesIn, readExitRecord } from '../../sessions/session-files.ts'
import { sessionElsewhere } from '../session-name.ts'
import type { ChangedTools } from './facts.ts'
import type { KnownAgent, KnownAgents } from './known-agents.ts'

export async function openApprovals(runsDir: string, folder: string): Promise<readonly Request[]> {
  const { openRequests } = await import('../../runs/questions.ts')
  return openRequests(join(runsDir, folder))
}

/** In runs of the project that `heimdall run` did not start, such as those of a host in the user's own terminal. */
export async function approvalsOfHosts(
  { env, project }: { readonly env: Env; readonly project: Project },
  ownRuns: ReadonlySet<string>,
): Promise<readonly Request[]> {
  const runsDir = runsDirOf(env)
  const found: Request[] = []
  // Marks of runs that have not ended: a look at every run there ever was would take too long.
  for (const folder of namesIn(join(runsDir, '.open'))) {
    const open = ownRuns.has(folder) ? [] : await openApprovals(runsDir, folder)
    if (open.length === 0) continue
    const { firstEvent, originOf, Repositories } = await import('../../runs/run-project.ts')
    const origin = originOf(firstEvent(join(runsDir, folder)))
    if (new Repositories(env).isOf(origin, project, undefined)) found.push(...open)
  }
  return found
}

export async function changedTools({
  env,
  project,
}: {
  readonly env: Env
  readonly project: Project
}): Promise<readonly ChangedTools[]> {
  if (!existsSync(pinsDir(env))) return []
  const [{ pendingOf, stateOf }, { allPins }] = await Promise.all([
    import('../../pins/approve.ts'),
    import('../../pins/pins-file.ts'),
  ])
  const here = project.gitCommonDir ?? project.root
  return allPins(env)
    .filter((pins) => pins.project === here)
    .flatMap(({ server_name: server, tools }) => {
      const waiting = [...tools.values()].filter((tool) => pendingOf(tool) !== undefined)
      const [first] = waiting.flatMap((tool) => pendingOf(tool)?.at ?? []).sort()
      if (first === undefined) return []
      const named = (state: string): string[] =>
        waiting.filter((tool) => stateOf(tool) === state).map(({ name }) => name)
      return [{ server_name: server, since: first, changed: named('changed'), added: named('new') }]
    })
}

/** The record of a session has no agent in it: it is the one that `heimdall run` gives the agent's session, of that time. */
export function endingsOf({ agents }: KnownAgents, dir: string, project: Project): ReadonlyMap<string, ExitRecord> {
  const found = new Map<string, ExitRecord>()
  const over = agents.filter(({ isOver, isRemote, silentMs }) => isOver && !isRemote && silentMs < STATUS_SHOWN_MS)
  if (over.length === 0) return found
  const elsewhere = new Set(
    filesIn(dir).flatMap((name) => (ENDED_ELSEWHERE.test(name) ? name.replace(ENDED_ELSEWHERE, '') : [])),
  )
  for (const agent of over) {
    const id = agent.agent_id
    const record =
      endOf(agent, dir, id) ?? (elsewhere.has(id) ? endOf(agent, dir, sessionElsewhere(id, project)) : undefined)
    if (record !== undefined) found.set(agent.haid, record)
  }
  return found
}

/** Whether it is of this project is asked only where there is such a record at all. */
const ENDED_ELSEWHERE = /-[0-9a-f]{4}\.exit\.json$/

function endOf(agent: KnownAgent, dir: string, id: string): ExitRecord | undefined {
  const exit = readExitRecord(dir, id)
  return exit !== undefined && isEndOf(exit, agent) ? exit : undefined
}

/** Its session was over when the agent's was, give or take what the watcher takes to say so. */
function isEndOf({ started_at: started, ended_at: ended }: ExitRecord, { startedMs, endedMs }: KnownAgent): boolean {
  return Date.parse(started) >= startedMs - 60_000 && (endedMs === null || Date.parse(ended) <= endedMs + 60_000)
}
