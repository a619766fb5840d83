// One look at the fleet of a project: reads sheets, the store and what lies beside them. Nothing that cannot be read stops the rest.
import { existsSync } from 'node:fs'
import type { CoordinationOptions } from '../../coordination/coordination.ts'
import { openView } from '../../coordination/view.ts'
import { fateOf } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import { type Project, refreshed, runsDirOf } from '../../paths.ts'
import type { Request } from '../../runs/approvals.ts'
import { type ExitRecord, readExitRecord, readHolder } from '../../sessions/session-files.ts'
import { orphansOf } from '../../sessions/settle.ts'
import type { KeptRun } from '../kept-run.ts'
import { openRuns } from '../open-runs.ts'
import type { FleetFacts } from './facts.ts'
import type { Fleet, Guard } from './fleet.ts'
import { approvalsOfHosts, changedTools, endingsOf, openApprovals } from './beside.ts'
import { type KnownAgents, knownAgents, NOBODY_KNOWN } from './known-agents.ts'
import { readSnoozed } from './snooze.ts'
import { fleetOf } from './picture.ts'
import { NOTHING_SPENT, tokensOf } from './spent.ts'
import { askSession, plainSessions, sessionIds } from './asked-sessions.ts'
import { oneLine } from './plain-words.ts'

export interface FleetOptions extends CoordinationOptions {
  /** Where plain sessions and records of ended ones lie. */
  readonly socketDir: string
  /** Each session of a run is asked for its state and its last line, and trails of hooks are read; else the watcher's word is taken. */
  readonly asksSessions: boolean
  readonly note: (line: string) => void
}

/** What is known of a project's agents now. */
export async function lookAtFleet(options: FleetOptions): Promise<Fleet> {
  return fleetOf(await gather({ ...options, project: refreshed(options.project) }))
}

async function gather(options: FleetOptions): Promise<FleetFacts> {
  const { project, env, clock, socketDir, asksSessions } = options
  const missing: Fleet['missing'][number][] = []
  const tried = <T>(what: string, read: () => T, otherwise: T): T => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof HeimdallError)) throw error
      missing.push({ what, code: error.code, message: oneLine(error.message) })
      return otherwise
    }
  }
  const triedLater = async <T>(what: string, read: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      return tried(
        what,
        () => {
          throw error
        },
        otherwise,
      )
    }
  }
  const runsDir = runsDirOf(env)
  const ids = sessionIds(socketDir)
  const open = tried('runs', () => openRuns(runsDir), []).filter(
    ({ run }) => refreshed(run.project).coordinationDir === project.coordinationDir,
  )
  const known = tried('coordination', () => knownIn(options), NOBODY_KNOWN)
  const ofRuns = new Set(open.map(({ run }) => `${run.session.dir}\0${run.session.id}`))
  const [asked, sessions] = await Promise.all([
    Promise.all(open.map(async ({ run }) => (asksSessions ? await askSession(run.session) : undefined))),
    plainSessions({ dir: socketDir, ids, project, isOfRun: (id) => ofRuns.has(`${socketDir}\0${id}`) }),
  ])
  const tokens = await triedLater('token ledger', () => tokensOf(options), NOTHING_SPENT)
  const approvals: (readonly Request[])[] = []
  for (const { run } of open)
    approvals.push(await triedLater('approvals', () => openApprovals(runsDir, run.folder), []))
  const ownRuns = new Set(open.map(({ run }) => run.folder))
  return {
    project,
    nowMs: clock.wallMs(),
    known,
    runs: open.map(({ run, isLost }, i) => ({
      run,
      lost: isLost ? tried('processes', () => leftOf(run), []) : undefined,
      exit: isLost ? tried('sessions', () => exitOfLost(run), undefined) : undefined,
      approvals: approvals[i] ?? [],
      asked: asked[i],
    })),
    sessions,
    approvals: await triedLater('approvals', () => approvalsOfHosts(options, ownRuns), []),
    tools: await triedLater('pins', () => changedTools(options), []),
    endings: tried('sessions', () => endingsOf(known, socketDir, project), new Map()),
    guards: asksSessions ? await triedLater('hooks', () => guardsOf(project), new Map()) : undefined,
    tokens: tokens.byRun,
    tokensInAll: tokens.inAll,
    snoozed: tried('snoozed', () => readSnoozed(env), new Map()),
    missing,
  }
}

/** Loaded here: who only wants to know who waits reads no trails. */
async function guardsOf(project: Project): Promise<ReadonlyMap<string, Guard>> {
  const { guardsIn } = await import('./trail-guards.ts')
  return guardsIn(project)
}

/** The processes that a killed supervisor has left. */
function leftOf({ session }: KeptRun): number[] {
  const holder = readHolder(session.dir, session.id)
  if (holder?.supervisorPid !== session.supervisor.pid) return []
  return orphansOf(holder).map(({ pid }) => pid)
}

/** Between the end of a session and the watcher's word the record of that end is there already; an older one is another's. */
function exitOfLost({ session, start }: KeptRun): ExitRecord | undefined {
  const exit = readExitRecord(session.dir, session.id)
  return exit !== undefined && exit.ended_at >= start.started_at ? exit : undefined
}

function knownIn(options: CoordinationOptions): KnownAgents {
  if (!existsSync(options.project.coordinationDir)) return NOBODY_KNOWN
  const view = openView({ ...options, fateOf: options.fateOf ?? fateOf })
  if (view === undefined) return NOBODY_KNOWN
  try {
    return knownAgents(view)
  } finally {
    view.store.close()
  }
}
