// Lists the sessions of a folder or of another machine, each with its state. Removes nothing.
import { findProjectIfThere, homeOf } from '../paths.ts'
import type { Info } from '../wire/payloads.ts'
import type { Holder } from '../wire/pid-file.ts'
import { askInfo } from './ask-info.ts'
import type { LookupPlace } from './locate.ts'
import { findListed, listSessions, type SessionEntry } from './session-files.ts'

/** A session that does not answer delays the list by at most this. */
const ANSWER_MS = 1_000

/** The names are those of `hm ls --json`. */
export interface ListedSession {
  readonly id: string
  readonly alive: boolean
  readonly state: string
  readonly state_ms: number
  readonly needs_input: Info['needs_input'] | null
  readonly pid: number
  readonly started_at: string | null
  readonly command: readonly string[]
  readonly exit_code: number | null
  /** Root of the project that it was started in; null if the folder is gone or unknown. */
  readonly project: string | null
}

/** `isAll`: ended sessions too. */
export async function sessionsAt(place: LookupPlace, isAll: boolean): Promise<ListedSession[]> {
  if (place.machine !== undefined) {
    const { listRemote } = await import('./remote/remote-session.ts')
    // Written by the same program on the other machine; another version may add or lack fields.
    return (await listRemote(place.machine, isAll)) as ListedSession[]
  }
  const { dir } = place
  const entries = listSessions(dir).filter(({ state }) => state !== 'ended' || isAll)
  const found = await Promise.all(entries.map((entry) => describe(dir, entry)))
  // A session still answers for a moment after its command has ended.
  return found.filter(({ alive, state }) => alive || state === 'lost' || isAll)
}

async function describe(dir: string, entry: SessionEntry): Promise<ListedSession> {
  const { id } = entry
  const mayAnswer = entry.state === 'running' || entry.state === 'lost'
  const info = mayAnswer ? await askInfo(dir, id, ANSWER_MS) : undefined
  if (info !== undefined) {
    const { alive, state, state_ms, needs_input, pid, started_at, command, exit_code, cwd } = info
    const project = projectOf(cwd)
    return { id, alive, state, state_ms, needs_input, pid, started_at, command, exit_code, project }
  }
  // It may have ended since the folder was listed.
  const { exit, holder, state } = findListed(dir, id) ?? entry
  const isRunning = state === 'running' && exit?.supervisor_pid !== holder?.supervisorPid
  const orphans = state === 'lost' ? (await import('./settle.ts')).orphansOf(holder) : []
  const hasEnded = !isRunning && orphans.length === 0
  return {
    id,
    alive: !hasEnded,
    // `silent`: the supervisor runs and does not answer.
    state: isRunning ? 'silent' : state === 'ended' || state === 'running' ? 'dead' : state,
    state_ms: 0,
    needs_input: null,
    pid: exit?.pid ?? holder?.childPid ?? 0,
    started_at: hasEnded ? (exit?.started_at ?? null) : startedAt(holder),
    command: (hasEnded ? exit?.command : undefined) ?? holder?.command ?? [],
    exit_code: hasEnded ? (exit?.exit_code ?? null) : null,
    project: projectOf(exit?.cwd ?? holder?.cwd ?? ''),
  }
}

function projectOf(cwd: string): string | null {
  if (cwd === '') return null
  const project = findProjectIfThere(cwd, {})
  return project === undefined ? null : homeOf(project)
}

const startedAt = (holder: Holder | undefined): string | null =>
  holder?.startedAtMs === undefined ? null : new Date(holder.startedAtMs).toISOString()
