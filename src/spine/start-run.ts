// The start of a run: identity, run, session, in this order. A step that fails undoes the ones before it; one that is killed between two of them leaves a state file, which the watcher settles.
import { join } from 'node:path'
import { type Coordination, openCoordination } from '../coordination/coordination.ts'
import { parseAgentId } from '../coordination/who/names.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { fleetDoor } from '../fleet/door.ts'
import { createIdSource } from '../id-source.ts'
import { GIT_AT_START_MS } from '../limits.ts'
import { findProject, type Project, runsDirOf } from '../paths.ts'
import { userName } from '../person.ts'
import { openOwnedRun, undoOpening } from '../runs/owned-run.ts'
import { redacted, redactedWords } from '../runs/redacted.ts'
import { checkCommand, checkLogFile } from '../sessions/command.ts'
import { handOver, type SessionOptions } from '../sessions/start.ts'
import { firstSheet } from './first-sheet.ts'
import { ownedRun, removeSheet, sheetPath, writeSheet } from './kept-run.ts'
import { settleLostRuns } from './open-runs.ts'
import { holdIdentity, takeAgent } from './run-agent.ts'
import { watcherCommand } from '../watcher-process.ts'
import { runVariables } from './run-environment.ts'
import { launchedAs, processOf, sessionIdFor } from './run-session.ts'
import type { RunWish, StartedRun } from './run-wish.ts'
import type { RunPlace } from './worktrees/for-run.ts'
import { lookAtWorktree, type WorktreeState } from './worktree-state.ts'

export async function startRun(wish: RunWish): Promise<StartedRun> {
  const { clock, env, note, session } = wish
  if (wish.agent !== undefined) parseAgentId(wish.agent)
  checkCommand(session, env)
  checkLogFile(session.logFile)
  await checkTask(wish.task)
  const project = findProject(session.cwd, env)
  const worktree = wish.before ?? lookAtWorktree(project, env, GIT_AT_START_MS)
  const runsDir = runsDirOf(env)
  // An earlier run of this agent may be lost: its name is free when that is settled.
  await settleLostRuns(
    runsDir,
    { clock, env, note },
    (run) => run.agent.agent_id === wish.agent || run.session.id === wish.sessionId,
  )
  const room = openCoordination({ project, env, clock, staleMinutes: wish.staleMinutes, fleet: fleetDoor })
  const undo: (() => unknown)[] = []
  try {
    const started = await start(wish, { project, runsDir, worktree, room, undo })
    // While the command runs already: the files for people may take their time.
    const { publish } = await import('../coordination/frame.ts')
    await publish({ note }, room, () => started.haid)
    return started
  } catch (error) {
    await undone(undo, note)
    throw error
  } finally {
    room.store.close()
  }
}

/** Before anybody is registered for it. */
async function checkTask(task: string | undefined): Promise<void> {
  if (task === undefined) return
  const { checkTaskId } = await import('../coordination/tasks.ts')
  checkTaskId(task)
}

/** The last first. What cannot be undone stops none of the others; its state file, if that is left, is for the watcher. */
async function undone(steps: readonly (() => unknown)[], note: (line: string) => void): Promise<void> {
  for (const step of steps.toReversed()) {
    try {
      await step()
    } catch (error) {
      if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
      note(`of the start that failed, this is left: ${error.message}`)
    }
  }
}

interface Surroundings {
  readonly project: Project
  readonly runsDir: string
  readonly worktree: Promise<WorktreeState | undefined>
  readonly room: Coordination
  readonly undo: (() => unknown)[]
}

async function start(
  asked: RunWish,
  { project: home, runsDir, worktree, room, undo }: Surroundings,
): Promise<StartedRun> {
  const { clock, env } = asked
  const { agentId, haid, role, epoch, secret } = await takeAgent(room, asked, undo)
  const place = await placeOf(asked, home, agentId, undo)
  const project = place?.project ?? home
  const session = { ...asked.session, cwd: place?.cwd ?? asked.session.cwd }
  const wish = { ...asked, session }
  const id = sessionIdFor(wish, agentId, home)
  const launched = launchedAs(wish, id)
  undo.push(() => launched.kill())
  const supervisor = await processOf(launched)
  await holdIdentity(room, { haid, epoch }, supervisor.pid)
  const runId = createIdSource(clock)()
  const runDir = join(runsDir, runId)
  const sheet = sheetPath(runsDir, runId)
  const variables = runVariables(
    {
      runId,
      runDir,
      agentId,
      haid,
      role,
      secret,
      command: session.command,
      principal: userName(),
      policyFile: wish.policy.file,
    },
    env,
  )
  const before = (await (place === undefined ? worktree : lookAtWorktree(project, env, GIT_AT_START_MS))) ?? null
  const kept = await firstSheet(wish, {
    runId,
    agent: { agent_id: agentId, haid, epoch },
    project,
    session: { dir: session.socketDir, id, supervisor },
    variables,
    before,
  })
  undo.push(() => removeSheet(sheet))
  writeSheet(sheet, kept)
  const run = ownedRun(runsDir, kept)
  undo.push(() => undoOpening(run))
  await openOwnedRun(run, clock)
  if (wish.task !== undefined) {
    const task = redacted(wish.task)
    const { startTask } = await import('../coordination/tasks.ts')
    await startTask(room, { kind: 'agent', haid, secret }, { taskId: task, title: task })
  }
  const options: SessionOptions = {
    ...session,
    id,
    shownCommand: redactedWords(session.command),
    env: [...session.env, ...variables],
    recordPath: wish.records ? join(runDir, 'terminal.cast') : null,
    watcher: watcherCommand(env),
  }
  const started = await handOver(options, launched, { env })
  return {
    runId,
    agentId,
    haid,
    project: project.root,
    worktree: place?.worktree,
    session: started,
    sheet,
    record: join(runDir, 'events.jsonl'),
  }
}

/** A worktree of the agent's own, where one was asked for. */
async function placeOf(
  { worktree, session, task, env, clock, note }: RunWish,
  project: Project,
  agent: string,
  undo: (() => unknown)[],
): Promise<RunPlace | undefined> {
  if (worktree === undefined) return undefined
  // Loaded here: most runs take place where they are started.
  const { placeForRun } = await import('./worktrees/for-run.ts')
  const place = await placeForRun({ project, agent, task: task ?? null, ...worktree, env, clock, note }, session.cwd)
  undo.push(() => place.undo())
  // What it runs may be a file that no commit has.
  checkCommand({ ...session, cwd: place.cwd }, env)
  return place
}
