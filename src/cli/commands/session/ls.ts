// hm ls: the sessions of a folder. Looks, and removes nothing.
import { basename } from 'node:path'
import { findProjectIfThere, homeOf } from '../../../paths.ts'
import { askInfo } from '../../../sessions/ask-info.ts'
import { findListed, listSessions, type SessionEntry } from '../../../sessions/session-files.ts'
import type { Holder } from '../../../wire/pid-file.ts'
import type { Info } from '../../../wire/payloads.ts'
import type { Context, Run } from '../../command.ts'
import { duration } from '../../render/duration.ts'
import { inlineText } from '../../render/plain-text.ts'
import { renderTable } from '../../render/style.ts'
import { settleRuns } from '../../settle-runs.ts'
import type { ls } from '../../table/session.ts'
import { elsewhereOf, type HostFlag } from './elsewhere.ts'
import { type ListedRow, sessionLines } from './list-rows.ts'
import { type DirFlag, socketDirOf } from './socket-dir.ts'

/** One session that does not answer must not hold up the list for long. */
const ANSWER_MS = 1_000

export const run: Run<typeof ls> = async (context, { flags }) => {
  if (flags.host === undefined) await settleRuns(context)
  const sessions = await listed(context, flags, flags.all === true)
  const { style } = context
  if (sessions.length === 0 && style.isTty) return { data: { sessions }, text: 'No active sessions' }
  if (!context.isSeedName && !style.isTty)
    return { data: { sessions }, text: renderTable(style, Object.values(HEADER), sessions.map(cellsOfRow)) }
  if (!context.isSeedName) {
    const [header = '', ...lines] = sessionLines([HEADER, ...sessions.map(rowOf)], style, '')
    return { data: { sessions }, text: [style.color.dim(header), ...lines].join('\n') }
  }
  // As scripts of the field read it: the id is the first word of each indented line.
  const fieldList = (title: string, some: readonly Listed[]): string =>
    [title, ...sessionLines(some.map(rowOf), style, '  ')].join('\n')
  const active = sessions.filter(({ alive }) => alive)
  const ended = sessions.filter(({ alive }) => !alive)
  const lists = [
    active.length === 0 ? 'No active sessions' : fieldList('Active sessions:', active),
    ...(ended.length === 0 ? [] : [fieldList('Ended sessions:', ended)]),
  ]
  return { data: { sessions }, text: lists.join('\n') }
}

const HEADER: ListedRow = {
  id: 'ID',
  state: 'STATE',
  waits: 'WAITS',
  since: 'FOR',
  project: 'PROJECT',
  command: 'COMMAND',
}

export const rowOf = (session: Listed): ListedRow => ({
  id: session.id,
  state: session.state === 'lost' && session.alive ? 'lost, still running' : session.state,
  waits: session.needs_input?.value === true ? 'needs input' : '',
  since: session.exit_code === null ? duration(session.state_ms) : `exit ${session.exit_code}`,
  project: inlineText(basename(session.project ?? '')),
  command: inlineText(session.command.join(' ')),
})

const cellsOfRow = (session: Listed): string[] => Object.values(rowOf(session))

/** Those of a folder here, or of another machine; `isAll` with those that have ended. */
export async function listed(context: Context, flags: DirFlag & HostFlag, isAll: boolean): Promise<Listed[]> {
  const machine = await elsewhereOf(context, flags)
  if (machine !== undefined) {
    const { listElsewhere } = await import('../../../sessions/elsewhere/session-elsewhere.ts')
    // Of the same program there; another version may know more of them, or less.
    return (await listElsewhere(machine, isAll)) as Listed[]
  }
  const dir = await socketDirOf(context, flags)
  const entries = listSessions(dir).filter(({ state }) => state !== 'ended' || isAll)
  const found = await Promise.all(entries.map((entry) => describe(dir, entry)))
  // A session still answers for a moment after its command has ended.
  return found.filter(({ alive }) => alive || isAll)
}

export interface Listed {
  readonly id: string
  readonly alive: boolean
  readonly state: string
  readonly state_ms: number
  readonly needs_input: Info['needs_input'] | null
  readonly pid: number
  readonly started_at: string | null
  readonly command: readonly string[]
  readonly exit_code: number | null
  /** Root of the project that it was started in; null where that folder is gone or not known. */
  readonly project: string | null
}

async function describe(dir: string, entry: SessionEntry): Promise<Listed> {
  const { id } = entry
  const mayAnswer = entry.state === 'running' || entry.state === 'lost'
  const info = mayAnswer ? await askInfo(dir, id, ANSWER_MS) : undefined
  if (info !== undefined) {
    const { alive, state, state_ms, needs_input, pid, started_at, command, exit_code, cwd } = info
    const project = projectOf(cwd)
    return { id, alive, state, state_ms, needs_input, pid, started_at, command, exit_code, project }
  }
  // It may have ended while it was asked.
  const { exit, holder, state } = findListed(dir, id) ?? entry
  const isRunning = state === 'running' && exit?.supervisor_pid !== holder?.supervisorPid
  const orphans = state === 'lost' ? (await import('../../../sessions/settle.ts')).orphansOf(holder) : []
  const hasEnded = !isRunning && orphans.length === 0
  return {
    id,
    alive: !hasEnded,
    // Its process is there and does not answer, or it is gone and nobody has settled it yet.
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
