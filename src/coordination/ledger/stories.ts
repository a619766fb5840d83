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

/** Events that people read about: entries in decisions.md, a page in conflicts/, a page in completed/. */
export function writeStories(dir: string, events: readonly StoredEvent[]): void {
  for (const event of events) {
    if (event.type === 'TASK_END') writeCompleted(join(dir, 'completed'), event)
    if (event.type !== 'CONFLICT_RAISED') continue
    const name = basename(said(event.payload['page']))
    if (PAGE.test(name)) createOnce(join(dir, 'conflicts'), name, conflictPage(event.payload, event.wallMs))
  }
  addDecisions(
    dir,
    events.flatMap((event) => {
      const told = decisionIn(event)
      return told === undefined ? [] : [{ id: event.id, wallMs: event.wallMs, ...told }]
    }),
  )
}

function decisionIn({ type, payload, claimId, scope }: StoredEvent): Pick<DecisionPage, 'title' | 'body'> | undefined {
  const of = (name: string): string => said(payload[name])
  switch (type) {
    case 'EXPIRE':
      return {
        title: 'auto-release (TTL/heartbeat expired)',
        body: `Claim ${claimId ?? ''} ended: ${of('reason')}.`,
      }
    case 'TAKEOVER':
      return {
        title: `takeover (${of('takeover_mode')})`,
        body: `Claim ${claimId ?? ''} on ${scope ?? ''} went from ${of('prior_owner')} to claim ${of('claim')}.`,
      }
    case 'DECISION_RECORDED':
      return {
        title: of('title'),
        body: `${of('body')}\n\n*— recorded via heimdall-ledger-mcp by \`${of('haid')}\`*`,
      }
    case 'CONFLICT_RAISED':
      return {
        title: `conflict ${of('id')}`,
        body: `${of('title')}. See [${of('page')}](${of('page')}); displaced work is on branch \`${of('branch')}\`.`,
      }
    default:
      return undefined
  }
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

/** Adds entries to decisions.md that are not there yet; control characters and headings inside one cannot pass for another. */
function addDecisions(dir: string, pages: readonly DecisionPage[]): void {
  if (pages.length === 0) return
  ensureFolder(dir)
  const path = join(dir, 'decisions.md')
  const known = marksIn(path, new Set(pages.map(({ id }) => id)))
  const header = existsSync(path) ? '' : DECISIONS_HEADER
  const entries = pages.filter(({ id }) => !known.has(id)).map(decisionText)
  if (entries.length > 0) appendText(path, `${header}${entries.join('')}`)
}

function decisionText({ id, wallMs, title, body }: DecisionPage): string {
  const safeTitle = title.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  const safeBody = body.replace(/\r\n?/g, '\n').replace(/^(#{1,6}\s|<!--)/gm, '\\$1')
  return `\n## ${isoSeconds(wallMs)} — ${safeTitle}\n\n${safeBody}\n<!-- ${id} -->\n`
}

/** Creates a file that is never changed again; one that is there already stays as it is. */
function createOnce(folder: string, name: string, text: string): boolean {
  ensureFolder(folder)
  const path = join(folder, name)
  if (existsSync(path)) return false
  replaceFile(path, text, { mode: 0o644 })
  return true
}

const MARK = /<!-- (\S{1,100}) -->/g
const MARK_BYTES_MAX = 128

/** Which of the ids have a mark in the file. Read once, a piece at a time: it is as long as the project's history. */
function marksIn(path: string, ids: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>()
  onDisk(path, () => {
    let fd: number
    try {
      fd = openPlainFile(realFs, path, O.O_RDONLY)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return
      throw error
    }
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let at = 0; ;) {
        const length = realFs.read(fd, piece, at)
        // One byte a character: a mark has no others in it.
        for (const [, id = ''] of piece.toString('latin1', 0, length).matchAll(MARK)) if (ids.has(id)) found.add(id)
        if (length < piece.length) return
        // A mark may lie across the border of two pieces.
        at += length - MARK_BYTES_MAX
      }
    } finally {
      realFs.close(fd)
    }
  })
  return found
}
