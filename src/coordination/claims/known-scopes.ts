// Scopes that were parsed before: the same words mean the same for as long as the disk gives the same answers.
import { KNOWN_SCOPES_MAX } from '../../limits.ts'
import { type PathOnDisk, parseScope, parseScopes, type Scope, type ScopeContext } from '../../scopes/scope.ts'

interface Known {
  readonly scope: Scope
  /** All that was asked of the disk, in order. */
  readonly looks: readonly Look[]
}

interface Look {
  readonly path: string
  readonly found: PathOnDisk
}

type Place = Omit<ScopeContext, 'lookup'>

/**
 * For a process that is asked about the same few scopes all day. The disk is asked again each time, since a file may
 * have become a folder or a link; only the reading of the words is spared.
 */
export class KnownScopes {
  readonly #known = new Map<string, Known>()
  #place: Place | undefined

  parse(raws: readonly string[], context: ScopeContext): Scope[] {
    if (this.#place === undefined || !isSamePlace(this.#place, context)) this.#known.clear()
    this.#place = context
    return parseScopes(raws, context, (raw) => this.#parse(raw, context))
  }

  #parse(raw: string, context: ScopeContext): Scope {
    const known = this.#known.get(raw)
    if (known?.looks.every(({ path, found }) => isSame(context.lookup.look(path), found)) === true) return known.scope
    const looks: Look[] = []
    const look = (path: string): PathOnDisk => {
      const found = context.lookup.look(path)
      looks.push({ path, found })
      return found
    }
    const scope = parseScope(raw, { ...context, lookup: { look } })
    if (this.#known.size >= KNOWN_SCOPES_MAX) this.#known.clear()
    this.#known.set(raw, { scope, looks })
    return scope
  }
}

function isSame(a: PathOnDisk, b: PathOnDisk): boolean {
  return a.kind === b.kind && a.path === b.path
}

function isSamePlace(a: Place, b: Place): boolean {
  return (
    a.root === b.root &&
    a.cwd === b.cwd &&
    a.caseSensitive === b.caseSensitive &&
    a.otherRoots?.join('\0') === b.otherRoots?.join('\0')
  )
}
