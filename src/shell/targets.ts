// Where words of a command lead: the places that it writes, as far as the command line says them.
import { below, type WrittenWord } from './programs.ts'
import type { SimpleCommand } from './parse.ts'
import type { Word } from './word.ts'

export interface WriteTarget {
  /** As written, from `cwd` on; `~` at its beginning is the user's home. */
  readonly path: string
  /** Folder that the command has changed to by then; `''` is where it began. */
  readonly cwd: string
  /** A pattern that the shell will fill in. */
  readonly isPattern: boolean
  /** It is taken away, with all that is in it. */
  readonly isGone?: true
  /** Something somewhere below it, and only the disk knows what. */
  readonly isSomewhere?: true
  /** Where it is a folder, these in it are written and not the folder itself. */
  readonly into?: readonly WriteTarget[]
  /** Only the shell knows where it is; `path` says nothing. */
  readonly isUnlocated?: true
}

/** What the shell itself opens for writing. */
export const redirected = ({ redirections }: SimpleCommand): Word[] =>
  redirections
    .filter(({ operator, target }) => /^(?:&?>>?|>\||<>)$|^>&$/.test(operator) && !isStream(operator, target))
    .map(({ target }) => target)

/** `2>&1`, `>&-`, `/dev/null`. */
function isStream(operator: string, { text }: Word): boolean {
  return text?.startsWith('/dev/') === true || (operator === '>&' && /^(?:\d+|-)$/.test(text ?? ''))
}

export function targetsOf(words: readonly WrittenWord[], cwd: string | null): WriteTarget[] {
  return words.flatMap((word): WriteTarget[] => {
    const { text, isPattern, isHome, into, isGone } = word
    if (text === '' || text === '-' || text?.startsWith('/dev/') === true) return []
    // Another user's home, or a `~` in quotes.
    const isForeign = text?.startsWith('~') === true && isHome !== true
    if (text === null || isForeign || (cwd === null && !/^[/~]/.test(text)))
      return [{ path: text ?? '', cwd: cwd ?? '', isPattern, isUnlocated: true }]
    const target = { path: text, cwd: cwd ?? '', isPattern, ...(isGone === true ? { isGone } : {}) }
    if (into === undefined) return [target]
    return [
      {
        ...target,
        into: locatedOf(
          into.map((name) => below(word, name)),
          cwd,
        ),
      },
    ]
  })
}

export const locatedOf = (words: readonly WrittenWord[], cwd: string | null): WriteTarget[] =>
  targetsOf(words, cwd).filter(({ isUnlocated }) => isUnlocated !== true)
