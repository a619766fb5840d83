// Commands of git that take away what is not committed, and do not name it: what they would write is for git to say, so here is how it is asked.
import { hasOption, sortWords, valuesOf } from './options.ts'
import type { Word } from './word.ts'

/** A question to git whose answer are paths that a command would write. */
export interface GitQuestion {
  readonly args: readonly string[]
  /** How the answer reads: paths from the top of the repository on, or the lines of `git clean`, from the folder on that it is called in. */
  readonly answer: 'from-top' | 'would-remove'
}

const CHANGED = ['diff', '--no-ext-diff', '--name-only', '--no-renames', '-z'] as const

/** What differs from a commit, in the files or in what is staged. */
const changed = (from: readonly string[], paths: readonly string[] = []): GitQuestion => ({
  args: [...CHANGED, ...from, '--', ...paths],
  answer: 'from-top',
})

const listed = (options: readonly string[], paths: readonly string[]): GitQuestion => ({
  args: ['ls-files', '--full-name', '-z', ...options, '--', ...paths],
  answer: 'from-top',
})

/** Nothing where only the shell knows what is meant. */
export function gitLosses(verb: string, rest: readonly Word[]): readonly GitQuestion[] {
  switch (verb) {
    case 'reset': {
      const sorted = sortWords(rest, { long: ['pathspec-from-file'] })
      return hasOption(sorted, 'hard', 'merge') ? thrownAway(sorted.plain[0]) : []
    }
    case 'switch': {
      const sorted = sortWords(rest, { short: 'cC', long: ['create', 'force-create', 'orphan', 'conflict'] })
      return hasOption(sorted, 'f', 'force', 'discard-changes') ? thrownAway(sorted.plain[0]) : []
    }
    case 'checkout':
      return checkedOut(rest)
    case 'restore': {
      const { paths, source, isWritten } = restoreWords(rest)
      return isWritten ? putBack(source, paths) : []
    }
    case 'stash':
      return stashed(rest)
    case 'clean':
      return cleaned(rest)
    default:
      return []
  }
}

function thrownAway(to: Word | undefined): GitQuestion[] {
  const revision = to === undefined ? 'HEAD' : to.text
  return revision === null ? [] : [changed([revision])]
}

/** Of paths that are written as they were somewhere else, those that differ from that. */
function putBack(from: Word | undefined, paths: readonly Word[]): GitQuestion[] {
  const texts = paths.flatMap(({ text, isHome }) => (text === null || isHome === true ? [] : [text]))
  if (texts.length === 0 || from?.text === null) return []
  return [changed(from === undefined ? [] : [from.text], texts)]
}

/** `git checkout -f`, and paths, with a commit before them or not. */
function checkedOut(rest: readonly Word[]): GitQuestion[] {
  const { isForced, from, paths } = checkoutWords(rest)
  if (paths.length > 0) return putBack(from, paths)
  if (isForced) return thrownAway(from)
  // A path where it is no branch: of a branch of that name there is nothing to put back.
  return from === undefined ? [] : putBack(undefined, [from])
}

/** What `git checkout` is told: a branch or a commit, and paths. */
export function checkoutWords(rest: readonly Word[]): {
  readonly isForced: boolean
  readonly from: Word | undefined
  readonly paths: readonly Word[]
} {
  const at = rest.findIndex(({ text }) => text === '--')
  const sorted = sortWords(at === -1 ? rest : rest.slice(0, at), {
    short: 'bB',
    long: ['orphan', 'conflict', 'pathspec-from-file'],
  })
  const isForced = hasOption(sorted, 'f', 'force')
  const [first, ...others] = sorted.plain
  if (at !== -1) return { isForced, from: first, paths: rest.slice(at + 1) }
  if (hasOption(sorted, 'b', 'B', 'orphan', 'd', 'detach', 't', 'track'))
    return { isForced, from: isForced ? first : undefined, paths: [] }
  return first !== undefined && isNoBranch(first)
    ? { isForced, from: undefined, paths: sorted.plain }
    : { isForced, from: first, paths: others }
}

/** No branch is called so, so it can only be a path. */
const isNoBranch = ({ text }: Word): boolean => text !== null && /^\.{1,2}(?:\/|$)|.\/$/.test(text)

export function restoreWords(rest: readonly Word[]): {
  readonly paths: readonly Word[]
  readonly source: Word | undefined
  /** Not only what is staged. */
  readonly isWritten: boolean
} {
  const sorted = sortWords(rest, { short: 's', long: ['source', 'conflict', 'pathspec-from-file'] })
  const isWritten = !hasOption(sorted, 'staged', 'S') || hasOption(sorted, 'worktree', 'W')
  return { paths: sorted.plain, source: valuesOf(sorted, 's', 'source')[0], isWritten }
}

function stashed(rest: readonly Word[]): GitQuestion[] {
  const sorted = sortWords(rest, { short: 'm', long: ['message', 'pathspec-from-file'] })
  const [verb = 'push', ...named] = sorted.plain.map(({ text }) => text)
  if (verb === null || named.includes(null)) return []
  const words = named.flatMap((text) => text ?? [])
  if (verb === 'pop' || verb === 'apply') {
    const [name = '0'] = words
    const stash = /^\d+$/.test(name) ? `stash@{${name}}` : name
    return [changed([`${stash}^1`, stash])]
  }
  if (verb !== 'push' && verb !== 'save') return []
  const paths = verb === 'push' ? words : []
  if (hasOption(sorted, 'S', 'staged')) return [changed(['--cached'], paths)]
  const isWhole = hasOption(sorted, 'u', 'include-untracked', 'a', 'all')
  return [changed(['HEAD'], paths), ...(isWhole ? [listed(['--others', '--exclude-standard'], paths)] : [])]
}

function cleaned(rest: readonly Word[]): GitQuestion[] {
  const sorted = sortWords(rest, { short: 'e', long: ['exclude'] })
  if (!hasOption(sorted, 'f', 'force') || hasOption(sorted, 'n', 'dry-run')) return []
  const texts = [...sorted.plain, ...valuesOf(sorted, 'e', 'exclude')].map(({ text }) => text)
  if (texts.includes(null)) return []
  const flags = (['d', 'x', 'X'] as const).filter((name) => hasOption(sorted, name)).map((name) => `-${name}`)
  const left = valuesOf(sorted, 'e', 'exclude').map(({ text }) => `--exclude=${text ?? ''}`)
  // Twice: a repository inside of this one goes only then.
  const force = sorted.options.filter(({ name }) => name === 'f').map(() => '-f')
  return [
    {
      args: [
        '-c',
        'core.quotePath=false',
        'clean',
        '-n',
        ...force,
        ...flags,
        ...left,
        '--',
        ...sorted.plain.flatMap(({ text }) => text ?? []),
      ],
      answer: 'would-remove',
    },
  ]
}
