// From a scope as typed to segments relative to the project root; whatever leads out of the project is refused.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import type { ScopeContext } from './scope.ts'
import { isSign, plainText, splitSegments, type Token } from './tokens.ts'

export interface Rooted {
  readonly segments: readonly (readonly Token[])[]
  /** Written with a trailing slash, or as `.` or `..`: a folder whatever the disk says. */
  readonly isFolder: boolean
}

/** One segment of an absolute path in the making; folders above the project stay plain text. */
interface Entry {
  readonly name: string
  readonly tokens?: readonly Token[]
}

export function inProject(raw: string, tokens: readonly Token[], context: ScopeContext): Rooted {
  const written = splitSegments(tokens)
  const stack: Entry[] = isAbsolute(tokens) ? [] : startSegments(context).map((name) => ({ name }))
  for (const segment of written) {
    const name = plainText(segment)
    if (name === '' || name === '.') continue
    if (name !== '..') stack.push({ name, tokens: segment })
    else if (stack.pop()?.tokens?.some((token) => isSign(token, '*?')) === true)
      throw new HeimdallError('SCOPE_INVALID', `scope ${printable(raw)} has \`..\` after a wildcard`, {
        hint: 'write the path without going up again',
      })
  }
  const isFolder = ['', '.', '..'].includes(plainText(written.at(-1) ?? []))
  const names = stack.map(({ name }) => name)
  for (const root of [context.root, ...(context.otherRoots ?? [])]) {
    const rootSegments = pathSegments(root)
    if (startsWith(names, rootSegments, context.caseSensitive)) {
      const inside = stack.slice(rootSegments.length)
      return { segments: inside.map(({ name, tokens }) => tokens ?? literalTokens(name)), isFolder }
    }
  }
  throw new HeimdallError('PATH_OUTSIDE_ROOT', `scope ${printable(raw)} leads out of ${context.root}`, {
    hint: 'name paths inside the project',
  })
}

function isAbsolute(tokens: readonly Token[]): boolean {
  return isSign(tokens[0], '/') || /^[A-Za-z]:\//.test(plainText(tokens.slice(0, 3)))
}

function startSegments(context: ScopeContext): string[] {
  const root = pathSegments(context.root)
  const cwd = pathSegments(context.cwd)
  return startsWith(cwd, root, context.caseSensitive) ? cwd : root
}

function literalTokens(text: string): Token[] {
  return Array.from(text, (char) => ({ char, literal: true }))
}

function pathSegments(path: string): string[] {
  const isWindows = /^[A-Za-z]:[\\/]/.test(path)
  return path
    .normalize('NFC')
    .split(isWindows ? /[\\/]/ : '/')
    .filter((segment) => segment !== '')
}

function startsWith(names: readonly string[], root: readonly string[], caseSensitive: boolean): boolean {
  const fold = (text: string, i: number): string =>
    caseSensitive && !(i === 0 && text.endsWith(':')) ? text : text.toLowerCase()
  return root.every((name, i) => {
    const seen = names[i]
    return seen !== undefined && fold(seen, i) === fold(name, i)
  })
}
