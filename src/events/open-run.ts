// Which run a shim belongs to: one with an owner or a given id, one of its host's session, or one of its own.
import { createHash } from 'node:crypto'
import { join as joinPath } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { isId, printable } from '../ids.ts'
import type { Env } from '../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { type EventFile, openEventFile } from './event-file.ts'
import { EventText } from './event-text.ts'
import { startOf } from './process-start.ts'
import { joinRun, type Record, soloRecord } from './record.ts'
import { lateRecord } from './late-record.ts'
import type { ParentProcess } from './run-books.ts'
import { runsDirOf } from './run-close.ts'
import type { Identity, RunStart } from './types.ts'

export interface RunRequest {
  readonly env: Env
  readonly clock: Clock
  readonly newId: () => string
  readonly identity: Omit<Identity, 'run_id'>
  readonly start: RunStart
  /** `--events`: a stream of lines, a file, or nothing for the run's record alone. */
  readonly events: { readonly out: (lines: Buffer) => boolean } | { readonly path: string } | null
  readonly parentPid: number
  readonly note: (line: string) => void
}

export interface OpenRun {
  readonly runId: string
  /** The run's folder; null for a shim alone, which shares nothing. */
  readonly runDir: string | null
  readonly record: Record
  /** The shim's own copy of what goes into a shared record. */
  readonly copy: ((lines: Buffer) => void) | null
  readonly text: EventText
}

export async function openRun(request: RunRequest): Promise<OpenRun> {
  const givenId = request.env['SUB_RUN_ID']
  const hasGivenId = givenId !== undefined && givenId !== ''
  if (request.events !== null && !hasGivenId) return openSolo(request, request.newId())
  try {
    return hasGivenId ? await openGiven(request, givenId) : await openOfHost(request)
  } catch (error) {
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
    const runId = hasGivenId ? givenId : request.newId()
    const opened = openWithoutRecord(request, runId, error, () => join(request, runId, null))
    return { ...opened, copy: copyOf(request) }
  }
}

function openSolo(request: RunRequest, runId: string): OpenRun {
  const text = textFor(request, runId)
  const { events } = request
  if (events === null) throw new HeimdallError('INTERNAL', 'a shim alone has to know where its events go')
  if ('out' in events)
    return { runId, runDir: null, record: soloRecord(text, request.start, request.clock, events.out), copy: null, text }
  const open = (): Record => {
    const file = openEventFile(events.path)
    return { ...soloRecord(text, request.start, request.clock, file.out), close: file.close }
  }
  try {
    return { runId, runDir: null, record: open(), copy: null, text }
  } catch (error) {
    if (!isSystemError(error)) throw error
    return openWithoutRecord(request, runId, error, async () => open())
  }
}

/** Nothing can be written now. Calls go on; each attempt to write says why it fails, and what is lost is counted. */
function openWithoutRecord(
  request: RunRequest,
  runId: string,
  cause: Error,
  attempt: () => Promise<Record | 'ended'>,
): OpenRun {
  request.note(`events of this run cannot be written: ${cause.message}`)
  return { runId, runDir: null, record: lateRecord(cause, attempt), copy: null, text: textFor(request, runId) }
}

async function openGiven(request: RunRequest, givenId: string): Promise<OpenRun> {
  const runsDir = runsDirOf(request.env)
  for (let nth = 1; ; nth += 1) {
    const runId = nth === 1 ? givenId : `${givenId}.${nth}`
    const opened = await joinNamed(request, runsDir, runId, null)
    if (opened === 'ended') continue
    // A run that has ended stays ended: its id, number and summary are in other people's books by now.
    if (nth > 1) request.note(`run ${printable(givenId)} has ended already; this is run ${printable(runId)}`)
    return opened
  }
}

async function openOfHost(request: RunRequest): Promise<OpenRun> {
  const { env, parentPid } = request
  const start = startOf(parentPid)
  const parent: ParentProcess | null = start === undefined ? null : { pid: parentPid, start }
  const session = env['CLAUDE_CODE_SESSION_ID']
  const key = session === undefined || session === '' ? `process ${parentPid} ${start ?? ''}` : `claude ${session}`
  const runsDir = runsDirOf(env)
  const hosts = joinPath(runsDir, '.hosts')
  ensureFolder(hosts)
  const pointer = joinPath(hosts, createHash('sha256').update(key).digest('hex').slice(0, 32))
  return await withFileLock(pointer, async () => {
    const current = readFileIfThere(pointer)?.toString().trim()
    if (current !== undefined && current !== '') {
      const opened = await joinNamed(request, runsDir, current, parent)
      if (opened !== 'ended') return opened
    }
    const runId = request.newId()
    const opened = await joinNamed(request, runsDir, runId, parent)
    if (opened === 'ended') throw new HeimdallError('INTERNAL', `new run ${runId} has ended already`)
    replaceFile(pointer, `${runId}\n`)
    return opened
  })
}

async function joinNamed(
  request: RunRequest,
  runsDir: string,
  runId: string,
  parent: ParentProcess | null,
): Promise<OpenRun | 'ended'> {
  const record = await join(request, runId, parent)
  if (record === 'ended') return 'ended'
  const copy = copyOf(request)
  if (record.opening.length > 0) copy?.(record.opening)
  return { runId, runDir: joinPath(runsDir, folderOf(runId)), record, copy, text: textFor(request, runId) }
}

function join(request: RunRequest, runId: string, parent: ParentProcess | null): Promise<Record | 'ended'> {
  return joinRun({
    runsDir: runsDirOf(request.env),
    folder: folderOf(runId),
    identity: { run_id: runId, ...request.identity },
    start: request.start,
    role: 'shim',
    parent,
    clock: request.clock,
  })
}

/** A copy is a favour: where it cannot be written, that is said once, and the record goes on. */
function copyOf({ events, note }: RunRequest): ((lines: Buffer) => void) | null {
  if (events === null) return null
  if ('out' in events) return (text) => void events.out(text)
  let file: EventFile | null = null
  const attempt = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      if (!isSystemError(error)) throw error
      file = null
      note(`no copy of the events goes to ${printable(events.path)}: ${error.message}`)
    }
  }
  attempt(() => (file = openEventFile(events.path)))
  return (text) => attempt(() => void file?.out(text))
}

function textFor(request: RunRequest, runId: string): EventText {
  return new EventText({ run_id: runId, ...request.identity }, () => request.clock.wallMs())
}

/** A run id may be any text (seed 004 §0.3), a folder name may not. */
export function folderOf(runId: string): string {
  return isId(runId) ? runId : `run-${createHash('sha256').update(runId).digest('hex').slice(0, 40)}`
}
