// Where the paths of a call lead, and whether that is inside scopes. The disk is asked by whoever hands the locations in.
import { posix } from 'node:path'
import { parseScope, NO_DISK, type Scope, type ScopeContext } from '../../scopes/scope.ts'
import { holds } from '../../scopes/holds.ts'
import { HeimdallError } from '../../errors.ts'
import type { Location, Locations } from '../types.ts'

const ROOT = '/project'
const CONTEXT: ScopeContext = { root: ROOT, cwd: ROOT, caseSensitive: true, lookup: NO_DISK }
const ABSOLUTE: ScopeContext = { root: '/', cwd: '/', caseSensitive: true, lookup: NO_DISK }

/** A scope of a policy: relative to where the server runs, or absolute. Or why it is none. */
export function readScope(text: string): Scope | string {
  try {
    return parseScope(text, text.startsWith('/') ? ABSOLUTE : CONTEXT)
  } catch (error) {
    if (error instanceof HeimdallError && (error.code === 'SCOPE_INVALID' || error.code === 'PATH_OUTSIDE_ROOT'))
      return error.message
    throw error
  }
}

/** Whether a text leads into the scopes whichever way it is read. One that leads nowhere known does not. */
export function compileWithin(scopes: readonly string[]): (text: string, locations: Locations) => boolean {
  const parsed = scopes.map((text) => ({ isAbsolute: text.startsWith('/'), scope: readScope(text) as Scope }))
  const isInside = ({ absolute, relative }: Location): boolean =>
    parsed.some(({ isAbsolute, scope }) =>
      isAbsolute ? holds(scope, absolute.slice(1)) : relative !== null && holds(scope, relative),
    )
  return (text, locations) => {
    const found = locations.get(text)
    return found !== undefined && found.length > 0 && found.every(isInside)
  }
}

/** Locations by the texts alone, for tests and explanations: nothing is a link, and nobody has a home. */
export function writtenLocations(texts: readonly string[]): Locations {
  return new Map(
    texts.map((text) => {
      const absolute = posix.resolve(ROOT, text.replace(/^file:\/\//i, ''))
      return [text, [{ absolute, relative: inside(ROOT, absolute) }]]
    }),
  )
}

/** The path from `root` on; null when it is not below. */
export function inside(root: string, absolute: string): string | null {
  if (absolute === root) return ''
  const start = root === '/' ? '/' : `${root}/`
  return absolute.startsWith(start) ? absolute.slice(start.length) : null
}
