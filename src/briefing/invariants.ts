// The invariants reference of a brief: `path[#anchor]`, checked as far as the file is here, because a dead reference looks like a kept promise.
import { readFileSync } from 'node:fs'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { REFERENCED_FILE_BYTES_MAX } from '../limits.ts'
import { onDisk } from '../storage/faults.ts'
import { nearest } from '../suggest.ts'
import { findReference, type Planning, type Reference } from './planning.ts'

export type InvariantsCheck =
  /** `null`: there is no such file here; wherever the brief is read there may be one. */
  | { readonly ok: true; readonly verified: 'file' | 'file + anchor' | null }
  | { readonly ok: false; readonly why: string }

export function checkInvariants(planning: Planning, reference: string): InvariantsCheck {
  const [path = '', anchor, ...more] = reference.split('#')
  if (path === '' || anchor === '' || more.length > 0 || /\p{Cc}/u.test(reference))
    return { ok: false, why: 'malformed, it must be path or path#anchor' }
  let found: Reference | undefined
  try {
    found = findReference(planning, path)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'PATH_OUTSIDE_ROOT') throw error
    return { ok: false, why: 'malformed, it leads out of the project' }
  }
  if (found === undefined) return { ok: true, verified: null }
  if (anchor === undefined) return { ok: true, verified: 'file' }
  const anchors = anchorsOf(readReferenced(found.path))
  if (anchors.includes(anchor)) return { ok: true, verified: 'file + anchor' }
  const close = nearest(anchor, anchors)
  return {
    ok: false,
    why: `the file has no anchor ${printable(anchor)}${close === undefined ? '' : `, did you mean ${close}?`}`,
  }
}

/** A file of the project, whole. Links are followed: `findReference` has seen where it lies. */
export function readReferenced(path: string): string {
  const bytes = onDisk(path, () => readFileSync(path))
  if (bytes.byteLength > REFERENCED_FILE_BYTES_MAX)
    throw new HeimdallError(
      'STORE_UNREADABLE',
      `${path} has ${bytes.byteLength} bytes, limit ${REFERENCED_FILE_BYTES_MAX}`,
    )
  return bytes.toString('utf8')
}

/** Anchors of a Markdown page as code hosts make them: the heading's slug, and `-1`, `-2` for repeats. */
export function anchorsOf(markdown: string): string[] {
  const anchors: string[] = []
  const seen = new Map<string, number>()
  let fence: string | undefined
  for (const line of markdown.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined
    const heading = fence === undefined ? /^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$/.exec(line)?.[1] : undefined
    if (heading === undefined) continue
    const slug = slugOf(heading)
    const repeats = seen.get(slug) ?? 0
    seen.set(slug, repeats + 1)
    anchors.push(repeats === 0 ? slug : `${slug}-${repeats}`)
  }
  return anchors
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}
