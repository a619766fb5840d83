// Pages of `.planning/ledger/` that people read: decisions.md, a page for each conflict and each completed task.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isoSeconds } from '../../clock.ts'
import { isErrno } from '../../errors.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { O, realFs } from '../../storage/fs.ts'
import { openPlainFile } from '../../storage/plain-file.ts'
import { iso } from '../moment.ts'
import type { StoredEvent } from '../store.ts'
import { slug } from '../who/haid.ts'
import { conflictPage } from './conflict-page.ts'
import { appendText } from './exported-events.ts'

const PIECE_BYTES = 1 << 20
const DECISIONS_HEADER = '# Decisions\n\nWhat was decided, by whom, newest last. Entries are only ever added.\n'

/** Every machine of a fleet can record a conflict, and call its page what it likes. */
const PAGE = /^\w[\w.-]{0,120}\.md$/

/** A payload has what its author put there. */
const said = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** Events that people read about: an entry in decisions.md, a page in completed/. */
export function writeStories(dir: string, event: StoredEvent): void {
  if (event.type === 'EXPIRE')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: 'auto-release (TTL/heartbeat expired)',
      body: `Claim ${event.claimId ?? ''} ended: ${said(event.payload['reason'])}.`,
    })
  if (event.type === 'TAKEOVER')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: `takeover (${said(event.payload['takeover_mode'])})`,
      body: `Claim ${event.claimId ?? ''} on ${event.scope ?? ''} went from ${said(event.payload['prior_owner'])} to claim ${said(event.payload['claim'])}.`,
    })
  if (event.type === 'DECISION_RECORDED')
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: said(event.payload['title']),
      body: `${said(event.payload['body'])}\n\n*— recorded via heimdall-ledger-mcp by \`${said(event.payload['haid'])}\`*`,
    })
  if (event.type === 'CONFLICT_RAISED') {
    const page = said(event.payload['page'])
    const name = basename(page)
    if (PAGE.test(name)) createOnce(join(dir, 'conflicts'), name, conflictPage(event.payload, event.wallMs))
    addDecision(dir, {
      id: event.id,
      wallMs: event.wallMs,
      title: `conflict ${said(event.payload['id'])}`,
      body: `${said(event.payload['title'])}. See [${page}](${page}); displaced work is on branch \`${said(event.payload['branch'])}\`.`,
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
  const scopes = Array.isArray(payload['scopes']) ? payload['scopes'].map(said) : []
  return [
    `# ${task ?? ''} — ${said(payload['title'])}`,
    '',
    `- **HAID**: ${said(payload['haid'])}`,
    `- **Completed**: ${isoSeconds(wallMs)}`,
    `- **State**: ${said(payload['state'])}`,
    `- **Surfaces**: ${scopes.length === 0 ? 'none' : scopes.map((scope) => `\`${scope}\``).join(', ')}`,
    '',
    '## Summary',
    '',
    said(payload['summary']),
    '',
  ].join('\n')
}

interface DecisionPage {
  /** Marks the entry, so that it is not added a second time. */
  readonly id: string
  readonly wallMs: number
  readonly title: string
  readonly body: string
}

/** Adds an entry to decisions.md; control characters and headings inside it cannot pass for another entry. */
function addDecision(dir: string, { id, wallMs, title, body }: DecisionPage): void {
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
function createOnce(folder: string, name: string, text: string): boolean {
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
