// Scopes: from what someone typed to a canonical form that can be stored and compared.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { SCOPE_ALTERNATIVES_MAX, SCOPE_CHARS_MAX, SCOPES_PER_CLAIM_MAX } from '../limits.ts'
import { literalPrefix, patternText } from './pattern.ts'
import { literalSegments, type Reading, readings } from './readings.ts'
import { inProject } from './rooted.ts'
import { GLOBSTAR } from './segment.ts'
import { escapeText, expandBraces, isSign, plainText, type Token, tokenise, tooMany } from './tokens.ts'

/**
 * A set of paths, or one symbol in a file, or a name outside the file system. Plain data: it can be stored as JSON
 * and compared after it was read back. What the disk looked like (file or folder, `[id]` a folder or a class) was
 * settled when it was made and is not asked again.
 */
export interface Scope {
  /** As typed, trimmed. */
  readonly raw: string
  /** Equal exactly for scopes that mean the same: `src/lib`, `./src/lib/`, `src/lib/*` and `src/lib/**` are one. */
  readonly canonical: string
  /** `file` and `dir` name one path; `unknown` is a path that does not exist, has no extension and may become either. */
  readonly kind: 'file' | 'dir' | 'unknown' | 'glob' | 'virtual'
  /** `A::B`, or null for the whole file. */
  readonly symbol: string | null
  /** The literal folder or path in front of the first wildcard, unescaped; `''` is the project root. See `baseQuery`. */
  readonly base: string
  /** The alternatives, without braces, escaped; a subtree ends in `/**`. Empty for `virtual`. */
  readonly patterns: readonly string[]
}

/** What the parser has to know of the disk. Paths are relative to the project root, `/`-separated, literal, NFC. */
export interface Lookup {
  /**
   * What is at `path` after following symlinks. `path` of the answer is the real path, relative to the root: the
   * longest part that exists is resolved, the rest is kept as given. `outside` when that leads out of the root.
   */
  look(path: string): PathOnDisk
}

export type PathOnDisk =
  | { readonly kind: 'file' | 'dir' | 'missing'; readonly path: string }
  /** Where it leads, for the message. */
  | { readonly kind: 'outside'; readonly path: string }

export interface ScopeContext {
  /** Real, absolute path of the project root. */
  readonly root: string
  /** Other spellings of the root in absolute scopes: linked worktrees, the root through a symlink. */
  readonly otherRoots?: readonly string[]
  /** Relative scopes start here; a folder outside the root counts as the root. */
  readonly cwd: string
  /** Measured for the repository. Without it, paths are compared in lower case. */
  readonly caseSensitive: boolean
  readonly lookup: Lookup
}

/** A lookup that knows of no file: every path is missing. For scopes of other machines. */
export const NO_DISK: Lookup = { look: (path) => ({ kind: 'missing', path }) }

export function parseScopes(
  raws: readonly string[],
  context: ScopeContext,
  parse: (raw: string, context: ScopeContext) => Scope = parseScope,
): Scope[] {
  if (raws.length === 0 || raws.length > SCOPES_PER_CLAIM_MAX)
    throw new HeimdallError('SCOPE_INVALID', `${raws.length} scopes given, 1 to ${SCOPES_PER_CLAIM_MAX} allowed`, {
      hint: 'claim the folder that holds them',
    })
  const byCanonical = new Map<string, Scope>()
  for (const raw of raws) {
    const scope = parse(raw, context)
    if (!byCanonical.has(scope.canonical)) byCanonical.set(scope.canonical, scope)
  }
  return [...byCanonical.values()]
}

/** Throws SCOPE_INVALID, or PATH_OUTSIDE_ROOT, with what was seen and what is allowed. */
export function parseScope(typed: string, context: ScopeContext): Scope {
  const raw = checkText(typed)
  const text = raw.normalize('NFC')
  if (/^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(text)) return virtualScope(raw, text)
  const { path, symbol } = splitSymbol(raw, tokenise(text), context)
  const found: Reading[] = []
  for (const alternative of expandBraces(path)) {
    found.push(...readings(raw, inProject(raw, alternative, context), context, symbol !== null))
    if (found.length > SCOPE_ALTERNATIVES_MAX) throw tooMany(path)
  }
  return assemble(raw, found, symbol)
}

/** One path, taken literally, as guards see it. It names a file unless told otherwise. */
export function scopeOfPath(path: string, options: { caseSensitive: boolean; kind?: 'file' | 'dir' }): Scope {
  const segments = literalSegments(path, options.caseSensitive)
  const kind = segments.length === 0 ? 'dir' : (options.kind ?? 'file')
  return assemble(path, [{ kind, segments: kind === 'dir' ? [...segments, GLOBSTAR] : segments }], null)
}

/** True when a claim on this scope is a claim on more or less everything, which deserves a warning. */
export function isBroad(scope: Scope): boolean {
  return scope.kind !== 'virtual' && scope.base === '' && scope.patterns.some((pattern) => pattern.startsWith('**'))
}

function assemble(raw: string, found: readonly Reading[], symbol: string | null): Scope {
  const patterns = [...new Set(found.map((reading) => patternText(reading.segments)))].sort()
  const [first] = found
  const base = commonBase(found)
  if (first === undefined || patterns.length > 1)
    return named({ raw, kind: 'glob', symbol, base, patterns }, `{${patterns.join(',')}}`)
  const { kind } = first
  const isWholeProject = base === '' && kind !== 'glob'
  return named(
    { raw, kind, symbol, base, patterns },
    kind === 'glob' ? (patterns[0] ?? '') : isWholeProject ? '**' : escapeText(base),
  )
}

function named(scope: Omit<Scope, 'canonical'>, path: string): Scope {
  return { ...scope, canonical: scope.symbol === null ? path : `${path}#${scope.symbol}` }
}

function commonBase(found: readonly Reading[]): string {
  const [first = [], ...others] = found.map((reading) => literalPrefix(reading.segments))
  const differs = first.findIndex((name, i) => others.some((other) => other[i] !== name))
  return first.slice(0, differs < 0 ? first.length : differs).join('/')
}

function checkText(typed: string): string {
  const raw = typed.trim()
  if (raw === '') throw invalid(typed, 'is empty', 'write a path; the whole project is `.`')
  if (raw.length > SCOPE_CHARS_MAX)
    throw invalid(raw, `has ${raw.length} characters, limit ${SCOPE_CHARS_MAX}`, 'claim the folder')
  if (/[\u0000-\u001f\u007f-\u009f]/.test(raw)) throw invalid(raw, 'holds a control character', 'remove it')
  if (/\p{Surrogate}/u.test(raw)) throw invalid(raw, 'holds half of a surrogate pair', 'write it in valid Unicode')
  if (raw.startsWith('!')) throw invalid(raw, 'starts with !', 'scopes only add; name what you want to hold')
  return raw
}

function virtualScope(raw: string, text: string): Scope {
  if (/^file:/i.test(text)) throw invalid(raw, 'is a file address', 'write the path instead')
  return { raw, canonical: text, kind: 'virtual', symbol: null, base: text, patterns: [] }
}

interface Split {
  readonly path: readonly Token[]
  readonly symbol: string | null
}

function splitSymbol(raw: string, tokens: readonly Token[], context: ScopeContext): Split {
  const hash = tokens.findIndex((token) => isSign(token, '#'))
  const extglob = tokens.findIndex((token, i) => isSign(token, '@!+*?') && isSign(tokens[i + 1], '('))
  // `C#/` and `+(x)` are names too: what exists under exactly this name is meant.
  if ((hash >= 0 || extglob >= 0) && isOnDisk(raw, tokens, context))
    return { path: tokens.map((token) => (token.char === '/' ? token : { ...token, literal: true })), symbol: null }
  if (extglob >= 0) throw invalid(raw, 'uses an extended glob', 'write braces, as in {a,b}')
  if (/\[[!^]?[^\]]*\[:/.test(raw)) throw invalid(raw, 'uses a POSIX class', 'write a range, as in [a-z]')
  if (hash < 0) return { path: tokens, symbol: null }
  const symbol = plainText(tokens.slice(hash + 1)).trim()
  if (symbol.includes('/') || symbol.split('::').includes(''))
    throw invalid(raw, `names ${printable(symbol)} as a symbol`, 'write file#A::B, or \\# for a # in a file name')
  const path = tokens.slice(0, hash)
  if (plainText(path).trim() === '') throw invalid(raw, 'names a symbol but no file', 'write file#symbol')
  return { path, symbol }
}

function isOnDisk(raw: string, tokens: readonly Token[], context: ScopeContext): boolean {
  if (tokens.some((token) => isSign(token, '*?{'))) return false
  const { segments } = inProject(raw, tokens, context)
  return context.lookup.look(segments.map(plainText).join('/')).kind !== 'missing'
}

function invalid(raw: string, problem: string, hint: string): HeimdallError {
  return new HeimdallError('SCOPE_INVALID', `scope ${printable(raw)} ${problem}`, { hint })
}
