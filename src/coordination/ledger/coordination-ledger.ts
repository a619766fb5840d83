// `.planning/ledger/`: what people and other machines see of coordination. Written after the commit, never the only copy.
import { existsSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isoSeconds } from '../../clock.ts'
import { isErrno } from '../../errors.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { O, realFs } from '../../storage/fs.ts'
import { openPlainFile } from '../../storage/plain-file.ts'
import { conflictPage } from './conflict-page.ts'
import { standingOf } from '../claims/conflicts.ts'
import type { Coordination } from '../coordination.ts'
import { appendEvents, appendText } from './exported-events.ts'
import { changeAsOther } from '../change.ts'
import { readHaid, slug } from '../who/haid.ts'
import {
  claimFileName,
  claimFilePath,
  EVENTS_FILE,
  knownSignature,
  ledgerDir,
  signatureKey,
  stampOf,
} from './ledger-files.ts'
import { iso } from '../moment.ts'
import { taskRef } from '../records.ts'
import type { Reader, StoredEvent } from '../store.ts'
import { surfaceOf } from '../claims/surface.ts'

/** A claim file as seed 000 T-2 has it, with what several claims of one holder need besides. */
export interface ClaimFile {
  readonly haid: string
  readonly human: string
  readonly claimed_surfaces: readonly string[]
  readonly task_ref: string
  readonly claimed_at: string
  readonly ttl_minutes: number
  readonly heartbeat: string
  readonly agent_id: string
  readonly claims: readonly {
    readonly claim_id: string
    readonly epoch: number
    readonly surfaces: readonly string[]
    readonly task: string | null
    readonly claimed_at: string
    readonly ttl_minutes: number
  }[]
}

const PIECE_BYTES = 1 << 20
const DECISIONS_HEADER = '# Decisions\n\nWhat was decided, by whom, newest last. Entries are only ever added.\n'

/**
 * Brings the files up to the store's last event. Whoever comes after a crash writes what is missing: how far the
 * files of this planning folder are is kept in the store, and lines that were written already are not written again.
 * `onWritten` gets every event once, from whichever process writes it out.
 */
export async function exportLedger(
  room: Coordination,
  touched?: string,
  onWritten: (events: readonly StoredEvent[]) => void = () => undefined,
): Promise<void> {
  const dir = ledgerDir(room.project)
  const { events, hasStale } = room.store.read((rows) => ({
    events: rows.events({ afterSeq: exported(room, rows).seq }),
    hasStale: touched !== undefined && isFileStale(rows, dir, touched),
  }))
  if (events.length === 0 && !hasStale) return
  ensureFolder(join(dir, 'claims'))
  await withFileLock(join(dir, '.export'), async () => {
    const {
      before,
      events: left,
      files,
    } = room.store.read((rows) => {
      const before = exported(room, rows)
      const missing = rows.events({ afterSeq: before.seq })
      return { before, events: missing, files: claimFiles(room, rows, missing, touched) }
    })
    const eventsPath = join(dir, EVENTS_FILE)
    const eventsBefore = stampOf(eventsPath)
    const aside = appendEvents(dir, {
      projectRoot: room.project.root,
      events: left,
      writtenStamp: before.stamp,
      asideName: `${iso(room.clock.wallMs()).slice(0, 10)}-${slug(room.rootHaid)}-${left[0]?.seq ?? 0}`,
    })
    for (const event of left) writeStories(dir, event)
    for (const [haid, file] of files) writeClaimFile(dir, haid, file)
    await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
      rows.putLocalSetting(exportedKey(room), `${left.at(-1)?.seq ?? before.seq} ${stampOf(eventsPath) ?? ''}`)
      const signature = signWritten(room, rows, { holders: [...files.keys()], eventsBefore, aside })
      rows.putLocalSetting(signatureKey(room.project), JSON.stringify(signature))
    })
    onWritten(left)
  })
}

const exportedKey = (room: Coordination): string => `exported:${room.project.planningDir}`

/** How far the files are, and the stamp of the file of events when they were. */
function exported(room: Coordination, rows: Reader): { seq: number; stamp: string | undefined } {
  const [seq = '0', stamp] = (rows.localSetting(exportedKey(room)) ?? '0').split(' ')
  return { seq: Number(seq), stamp }
}

interface Written {
  readonly holders: readonly string[]
  readonly eventsBefore: string | undefined
  readonly aside: string | null
}

/** The known signature with our own files as they are now, so that nobody takes them for news. Only ours: a file that arrived meanwhile stays news. */
function signWritten(
  room: Coordination,
  rows: Reader,
  { holders, eventsBefore, aside }: Written,
): Record<string, string> {
  const dir = ledgerDir(room.project)
  const signature = { ...knownSignature(rows, room.project) }
  const sign = (name: string): void => {
    const stamp = stampOf(join(dir, name))
    if (stamp === undefined) delete signature[name]
    else signature[name] = stamp
  }
  for (const haid of holders) sign(`claims/${claimFileName(haid)}`)
  if (signature[EVENTS_FILE] === eventsBefore)
    for (const name of [EVENTS_FILE, ...(aside === null ? [] : [aside])]) sign(name)
  return signature
}

function claimFiles(
  room: Coordination,
  rows: Reader,
  events: readonly StoredEvent[],
  touched: string | undefined,
): Map<string, ClaimFile | undefined> {
  const holders = new Set(touched === undefined ? [] : [touched])
  for (const { claimId, payload } of events) {
    const holder = claimId === null ? undefined : rows.claim(claimId)?.holder
    if (holder !== undefined) holders.add(holder)
    if (typeof payload['prior_holder'] === 'string') holders.add(payload['prior_holder'])
  }
  const files = new Map<string, ClaimFile | undefined>()
  for (const haid of holders) if (rows.agent(haid)?.origin === 'local') files.set(haid, claimFile(room, rows, haid))
  return files
}

function claimFile(room: Coordination, rows: Reader, haid: string): ClaimFile | undefined {
  const held = rows.claims({ holder: haid, state: 'active' })
  const agent = rows.agent(haid)
  const [first] = held
  if (first === undefined || agent === undefined) return undefined
  const now = room.now()
  return {
    haid,
    human: readHaid(haid)?.human ?? 'unknown',
    claimed_surfaces: held.flatMap((claim) => claim.scopes.map(surfaceOf)),
    task_ref: [...new Set(held.map(({ task }) => taskRef(task, agent.runtime.client === null ? null : haid)))].join(
      ', ',
    ),
    claimed_at: isoSeconds(first.createdMs),
    ttl_minutes: Math.max(...held.map(({ ttlMinutes }) => ttlMinutes)),
    heartbeat: standingOf(room, rows, first, now).lastSeenAt,
    agent_id: agent.agentId,
    claims: held.map((claim) => ({
      claim_id: claim.claimId,
      epoch: claim.epoch,
      surfaces: claim.scopes.map(surfaceOf),
      task: claim.task,
      claimed_at: iso(claim.createdMs),
      ttl_minutes: claim.ttlMinutes,
    })),
  }
}

function writeClaimFile(dir: string, haid: string, file: ClaimFile | undefined): void {
  const path = claimFilePath(dir, haid)
  if (file === undefined) onDisk(path, () => rmSync(path, { force: true }))
  else replaceFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o644 })
}

/** The heartbeat in the file follows the agent's within half a minute of its acts, not with each of them. */
function isFileStale(rows: Reader, dir: string, haid: string): boolean {
  const agent = rows.agent(haid)
  if (agent === undefined || rows.claims({ holder: haid, state: 'active' }).length === 0) return false
  const stats = onDisk(dir, () => statSync(claimFilePath(dir, haid), { throwIfNoEntry: false }))
  return stats === undefined || Math.abs(agent.beat.at.wallMs - stats.mtimeMs) >= 30_000
}

/** Events that people read about: an entry in decisions.md, a page in completed/. */
function writeStories(dir: string, event: StoredEvent): void {
  if (event.type === 'EXPIRE')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: 'auto-release (TTL/heartbeat expired)',
      body: `Claim ${event.claimId ?? ''} ended: ${String(event.payload['reason'])}.`,
    })
  if (event.type === 'TAKEOVER')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: `takeover (${String(event.payload['takeover_mode'])})`,
      body: `Claim ${event.claimId ?? ''} on ${event.scope ?? ''} went from ${String(event.payload['prior_owner'])} to claim ${String(event.payload['claim'])}.`,
    })
  if (event.type === 'DECISION_RECORDED')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: String(event.payload['title']),
      body: `${String(event.payload['body'])}\n\n*— recorded via heimdall-ledger-mcp by \`${String(event.payload['haid'])}\`*`,
    })
  if (event.type === 'CONFLICT_RAISED') {
    const { page } = event.payload
    createOnce(join(dir, 'conflicts'), basename(String(page)), conflictPage(event.payload, event.wallMs))
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: `conflict ${String(event.payload['id'])}`,
      body: `${String(event.payload['title'])}. See [${String(page)}](${String(page)}); displaced work is on branch \`${String(event.payload['branch'])}\`.`,
    })
  }
  if (event.type === 'TASK_END') writeCompleted(join(dir, 'completed'), event)
}

/** A task that ends a second time on one day gets a page of its own. */
function writeCompleted(folder: string, event: StoredEvent): void {
  const stem = `${iso(event.wallMs).slice(0, 10)}-${slug(event.task ?? '') || 'task'}`
  const page = completedPage(event)
  for (let number = 1; ; number += 1) {
    const name = `${stem}${number === 1 ? '' : `-${number}`}.md`
    const known = readFileIfThere(join(folder, name))?.toString('utf8')
    if (known === page || (known === undefined && createOnce(folder, name, page))) return
  }
}

function completedPage({ payload, task, wallMs }: StoredEvent): string {
  const scopes = Array.isArray(payload['scopes']) ? payload['scopes'].map(String) : []
  return [
    `# ${task ?? ''} — ${String(payload['title'])}`,
    '',
    `- **HAID**: ${String(payload['haid'])}`,
    `- **Completed**: ${isoSeconds(wallMs)}`,
    `- **State**: ${String(payload['state'])}`,
    `- **Surfaces**: ${scopes.length === 0 ? 'none' : scopes.map((scope) => `\`${scope}\``).join(', ')}`,
    '',
    '## Summary',
    '',
    String(payload['summary']),
    '',
  ].join('\n')
}

export interface DecisionPage {
  /** Marks the entry, so that it is not added a second time. */
  readonly id: string
  readonly wallMs: number
  readonly title: string
  readonly body: string
}

/** Adds an entry to decisions.md; control characters and headings inside it cannot pass for another entry. */
export function addDecision(dir: string, { id, wallMs, title, body }: DecisionPage): void {
  ensureFolder(dir)
  const path = join(dir, 'decisions.md')
  const mark = `<!-- ${id} -->`
  if (holdsText(path, mark)) return
  const header = existsSync(path) ? '' : DECISIONS_HEADER
  const safeTitle = title.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  const safeBody = body.replace(/\r\n?/g, '\n').replace(/^(#{1,6}\s|<!--)/gm, '\\$1')
  appendText(path, `${header}\n## ${isoSeconds(wallMs)} — ${safeTitle}\n\n${safeBody}\n${mark}\n`)
}

/** Creates a file that is never changed again; one that is there already stays as it is. */
export function createOnce(folder: string, name: string, text: string): boolean {
  ensureFolder(folder)
  const path = join(folder, name)
  if (existsSync(path)) return false
  replaceFile(path, text, { mode: 0o644 })
  return true
}

/** Looked for in all of the file, a piece at a time: the file is as long as the project's history. */
function holdsText(path: string, wanted: string): boolean {
  return onDisk(path, () => {
    let fd: number
    try {
      fd = openPlainFile(realFs, path, O.O_RDONLY)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return false
      throw error
    }
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let at = 0; ;) {
        const length = realFs.read(fd, piece, at)
        if (piece.subarray(0, length).includes(wanted)) return true
        if (length < piece.length) return false
        // The text may lie across the border of two pieces.
        at += length - Buffer.byteLength(wanted)
      }
    } finally {
      realFs.close(fd)
    }
  })
}
