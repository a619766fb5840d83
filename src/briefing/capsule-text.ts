// The text of a capsule file (seed 000): front matter with id, depends and ts, then WHAT, WHERE, DECISION, GOTCHA.
import { HeimdallError } from '../errors.ts'
import { isId, parseId } from '../ids.ts'
import { CAPSULE_BYTES_MAX, CAPSULE_LINES_MAX } from '../limits.ts'
import { checkText } from './values.ts'

export interface CapsuleFields {
  readonly what: string
  readonly where?: string | undefined
  readonly decision?: string | undefined
  readonly gotcha?: string | undefined
  readonly depends: readonly string[]
}

export interface Capsule {
  readonly id: string
  readonly depends: readonly string[]
  readonly ts: string
  /** WHAT and the lines after it, as written. */
  readonly body: string
}

const LABELS = ['what', 'where', 'decision', 'gotcha'] as const
const FURTHER_LINE = '  '

/** Refuses more than ten lines: the cap is what forces an author to compact. */
export function formatCapsule(id: string, fields: CapsuleFields, ts: string): string {
  parseId('capsule', id)
  for (const need of fields.depends) {
    parseId('capsule', need)
    if (need === id) throw new HeimdallError('CAPSULE_CYCLE', `capsule ${id} cannot depend on itself`)
  }
  const body = LABELS.flatMap((label) => {
    const text = fields[label]
    return text === undefined || text === ''
      ? []
      : [
          `${label.toUpperCase()}: ${checkText(`--${label}`, text, CAPSULE_BYTES_MAX).replaceAll('\n', `\n${FURTHER_LINE}`)}`,
        ]
  })
  const text = ['---', `id: ${id}`, `depends: ${fields.depends.join(',')}`, `ts: ${ts}`, '---', ...body, ''].join('\n')
  const lines = countLines(text)
  const bytes = Buffer.byteLength(text)
  if (lines > CAPSULE_LINES_MAX || bytes > CAPSULE_BYTES_MAX)
    throw new HeimdallError(
      'CAPSULE_TOO_LONG',
      `capsule ${id} would have ${lines} lines and ${bytes} bytes, limit ${CAPSULE_LINES_MAX} lines and ${CAPSULE_BYTES_MAX} bytes`,
      { hint: 'say less: a capsule points at the work, it does not retell it' },
    )
  return text
}

/** A capsule as `hydrate` prints it. What another tool wrote is indented where it could pass for front matter or a label. */
export function hydratedText({ id, depends, ts, body }: Capsule): string {
  return ['---', `id: ${id}`, `depends: ${depends.join(',')}`, `ts: ${ts}`, '---', ...guarded(body), ''].join('\n')
}

/** A capsule inside a brief: id and text. The front matter is for machines. */
export const briefedText = ({ id, body }: Pick<Capsule, 'id' | 'body'>): string =>
  `[${id}] ${guarded(body).join(`\n${FURTHER_LINE}`)}`

/** Each label once and in order; every other line is indented. */
function guarded(body: string): string[] {
  let next = 0
  return body.split(/\r?\n/).map((line) => {
    const at = LABELS.findIndex((label) => line.startsWith(`${label.toUpperCase()}: `))
    if (at < next) return line.startsWith(FURTHER_LINE) ? line : `${FURTHER_LINE}${line}`
    next = at + 1
    return line
  })
}

export function countLines(text: string): number {
  return text.split('\n').length - 1
}

/** Reads what we or the seed's tools wrote. Only the front matter is looked at for fields, so a body cannot forge one. */
export function parseCapsule(id: string, text: string): Capsule {
  const parts = /^---\r?\n([^]*?)\r?\n---\r?\n([^]*)$/.exec(text)
  const header = parts?.[1]
  const body = parts?.[2]
  if (header === undefined || body === undefined)
    throw new HeimdallError('STORE_CORRUPT', `capsule ${id} cannot be read: it has no front matter`, {
      hint: 'write it again',
    })
  const field = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(header)?.[1]?.trim() ?? ''
  const depends = field('depends')
    .split(/[\s,]+/)
    .filter((need) => need !== '')
  const bad = depends.find((need) => !isId(need))
  if (bad !== undefined)
    throw new HeimdallError('STORE_CORRUPT', `capsule ${id} cannot be read: it depends on something that is no id`)
  return { id, depends, ts: field('ts'), body: body.replace(/\n+$/, '') }
}
