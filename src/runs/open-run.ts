// Which run a shim belongs to: one with an owner or a given id, one of its host's session, or one of its own.
import { createHash } from 'node:crypto'
import { join as joinPath } from 'node:path'
import type { Clock } from '../clock.ts'
import { HeimdallError, isSystemError } from '../errors.ts'
import { isId, printable } from '../ids.ts'
import { type Env, runsDirOf } from '../paths.ts'
import { hostIn, lineOf } from '../person.ts'
import { lookUnswayed } from '../processes.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { type EventFile, openEventFile } from './event-file.ts'
import { EventText } from '../events/event-text.ts'
import { startOf } from './process-start.ts'
import { joinRun, type Record } from './record.ts'
import { soloRecord } from './solo-record.ts'
import { lateRecord } from './late-record.ts'
import type { RunFold } from './run-fold.ts'
import type { RunIdentity, RunStart } from '../events/types.ts'
import { refuseRunOfAnother } from './whose-run.ts'

export interface RunRequest {
  readonly env: Env
  readonly clock: Clock
  readonly newId: () => string
  readonly identity: Omit<RunIdentity, 'run_id'>
  readonly start: RunStart
  /** `--events`: a stream of lines, a file, or nothing for the run's record alone. */
  readonly events: { readonly out: (lines: Buffer) => boolean } | { readonly path: string } | null
  readonly parentPid: number
  /** How long a run without owner stays open when no shim takes part in it. */
  readonly quietMs: number
  readonly note: (line: string) => void
}

export interface OpenRun {
  readonly runId: string
  readonly record: Record
  /** What the shims of the run share; null for a shim alone. */
  readonly shared: SharedRun | null
  /** The shim's own copy of what goes into a shared record. */
  readonly copy: ((lines: Buffer) => void) | null
  readonly text: EventText
}

export interface SharedRun {
  readonly runDir: string
  /** Calls `act` when the run has been joined: now, or as soon as whatever is in the way has gone. */
  readonly whenJoined: (act: () => void) => void
}

export async function openRun(request: RunRequest): Promise<OpenRun> {
  const givenId = request.env['SUB_RUN_ID']
  if (givenId !== undefined && givenId !== '')
    return await openShared(request, givenId, (text) => {
      refuseRunOfAnother(joinPath(runsDirOf(request.env), folderOf(givenId)), givenId, process.pid)
      return joinNamed(request, givenId, text)
    })
  return request.events === null ? await openOfHost(request) : openSolo(request, request.newId())
}

function openSolo(request: RunRequest, runId: string): OpenRun {
  const text = textFor(request, runId)
  const { events } = request
  if (events === null) throw new HeimdallError('INTERNAL', 'a shim alone has to know where its events go')
  const solo = { runId, shared: null, copy: null, text }
  if ('out' in events) return { ...solo, record: soloRecord(text, request.start, request.clock, events.out) }
  const open = (early?: RunFold): Record => {
    const file = openEventFile(events.path)
    return { ...soloRecord(text, request.start, request.clock, file.out, early), close: file.close }
  }
  try {
    return { ...solo, record: open() }
  } catch (error) {
    if (!isSystemError(error)) throw error
    request.note(`events of this run cannot be written: ${error.message}`)
    return { ...solo, record: lateRecord(error, async (early) => open(early)) }
  }
}

/** One run for each session of the host; files named after what shims and hooks know of the session say which. */
async function openOfHost(request: RunRequest): Promise<OpenRun> {
  const { env } = request
  const hosts = joinPath(runsDirOf(env), '.hosts')
  const pointers = hostKeys(request).map((key) =>
    joinPath(hosts, createHash('sha256').update(key).digest('hex').slice(0, 32)),
  )
  const known = (): string | undefined => pointers.map(pointedTo).find((runId) => runId !== undefined)
  // Those that start at once agree on one id.
  const agree = async (proposed: string): Promise<string> => {
    ensureFolder(hosts)
    return await withFileLock(pointers.at(-1) ?? hosts, () => {
      const runId = known() ?? proposed
      for (const pointer of pointers) if (pointedTo(pointer) === undefined) replaceFile(pointer, `${runId}\n`)
      return runId
    })
  }
  let runId = request.newId()
  let isAgreed = false
  try {
    runId = known() ?? runId
    runId = await agree(runId)
    isAgreed = true
  } catch (error) {
    // Whatever is in the way now is told when the run cannot be joined.
    if (!isDiskTrouble(error)) throw error
  }
  return await openShared(request, runId, async (text) => {
    if (!isAgreed) await agree(runId)
    isAgreed = true
    return await joinNamed(request, runId, text)
  })
}

/** What others could have written, and what is another's, is not waited for: it is refused. */
function isDiskTrouble(error: unknown): error is Error {
  if (!(error instanceof HeimdallError)) return isSystemError(error)
  return error.code !== 'STATE_UNSAFE' && error.code !== 'IDENTITY_BORROWED'
}

async function openShared(
  request: RunRequest,
  runId: string,
  join: (text: EventText) => Promise<Record>,
): Promise<OpenRun> {
  const copy = copyOf(request)
  const text = textFor(request, runId)
  let isJoined = false
  let waiting: (() => void)[] = []
  const attempt = async (): Promise<Record> => {
    const record = await join(text)
    copy?.(record.opening)
    isJoined = true
    for (const act of waiting) act()
    waiting = []
    return record
  }
  const shared: SharedRun = {
    runDir: joinPath(runsDirOf(request.env), folderOf(runId)),
    whenJoined(act) {
      if (isJoined) act()
      else waiting.push(act)
    },
  }
  const opened = { runId, shared, copy, text }
  try {
    return { ...opened, record: await attempt() }
  } catch (error) {
    if (!isDiskTrouble(error)) throw error
    request.note(`events of this run cannot be written: ${error.message}`)
    return { ...opened, record: lateRecord(error, attempt) }
  }
}

function pointedTo(pointer: string): string | undefined {
  const text = readFileIfThere(pointer)?.toString().trim()
  return text === '' ? undefined : text
}

/**
 * What a session of a host is known by: its own id where everybody is told that one, and the host's process, which
 * outlives an id (`/clear` gives another). A parent that is no host stands for a session only where nothing else does.
 */
function hostKeys({ env, parentPid }: RunRequest): string[] {
  const session = env['CLAUDE_CODE_SESSION_ID']
  const host = hostAbove(parentPid)
  const named = session === undefined || session === '' ? [] : [`claude ${session}`]
  return host === undefined && named.length > 0 ? named : [...named, processKey(host ?? parentPid)]
}

const processKey = (pid: number): string => `process ${pid} ${startOf(pid) ?? ''}`

function hostAbove(pid: number): number | undefined {
  const table = lookUnswayed()
  return hostIn(table, lineOf(table, pid))
}

function joinNamed(request: RunRequest, runId: string, { lines }: EventText): Promise<Record> {
  const { quietMs, clock } = request
  const parentPid = hostAbove(request.parentPid) ?? request.parentPid
  const start = startOf(parentPid)
  return joinRun({
    runsDir: runsDirOf(request.env),
    folder: folderOf(runId),
    identity: { run_id: runId, ...request.identity },
    start: request.start,
    role: 'shim',
    parent: start === undefined ? null : { pid: parentPid, start },
    quietMs,
    clock,
    queued: () => lines.events,
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
