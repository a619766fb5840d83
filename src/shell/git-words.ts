// What git does to the work tree, and whether it goes past its own hooks.
import { COMMIT, gitBypass } from './git-bypass.ts'
import { checkoutWords, gitLosses, type GitQuestion, restoreWords } from './git-losses.ts'
import { hasOption, type SortedWords, sortWords, valuesOf } from './options.ts'
import { destination, diffNames, gone, type DiffNames, type WrittenWord } from './programs.ts'
import { moved } from './wrappers.ts'
import type { Word } from './word.ts'

export interface GitWords {
  /** Where it works; null where only the shell knows. */
  readonly cwd: string | null
  readonly written: readonly WrittenWord[]
  /** Files with a diff that is applied; `stdin` where it is handed over. */
  readonly patches: readonly Word[] | 'stdin'
  readonly names: DiffNames
  readonly losses: readonly GitQuestion[]
  readonly bypass: string | null
  readonly commits: 'add' | 'commit' | null
  /** What goes in besides what is named: what has changed of files that git knows, or everything that is new too. */
  readonly all: 'tracked' | 'everything' | null
  readonly named: readonly Word[]
  /** Commands that it runs by a shell. */
  readonly scripts: readonly string[]
  /** A program that it runs, with its words. */
  readonly runs: readonly Word[]
  /** Commands that a name of the user's choice is to stand for from here on. */
  readonly defined: readonly string[]
  /** A command that git may not know: an alias with its arguments, and its value where `-c alias.NAME=…` defines it. */
  readonly alias: { readonly name: string; readonly rest: readonly Word[]; readonly value: string | null } | null
  /** The command without git's own options: `push -f origin`. */
  readonly plain: readonly Word[]
}

const OWN = {
  short: 'Cc',
  long: ['git-dir', 'work-tree', 'namespace', 'super-prefix', 'config-env'],
  isWrapper: true,
} as const

export function gitWords(args: readonly Word[], cwd: string | null, given: readonly Word[] = []): GitWords {
  const own = sortWords(args, OWN)
  const verb = own.plain[0]?.text ?? ''
  const rest = own.plain.slice(1)
  const folder = valuesOf(own, 'C').reduce<string | null>(moved, cwd)
  const nothing: GitWords = {
    cwd: hasOption(own, 'git-dir', 'work-tree') ? null : folder,
    written: [],
    patches: [],
    names: { strip: undefined, below: '' },
    losses: gitLosses(verb, rest),
    bypass: gitBypass({ verb, own, rest, given }),
    commits: null,
    all: null,
    named: [],
    scripts: scriptsOf(verb, rest),
    runs: verb === 'bisect' && rest[0]?.text === 'run' ? rest.slice(1) : [],
    defined: [...valuesOf(own, 'c').flatMap(aliasScript), ...(verb === 'config' ? definedBy(rest) : [])],
    alias: verb === '' || COMMANDS.has(verb) ? null : { name: verb, rest, value: definition(own, verb) },
    plain: own.plain,
  }
  return nothing.bypass === null ? { ...nothing, ...wordsOf(verb, rest) } : nothing
}

function wordsOf(verb: string, rest: readonly Word[]): Partial<GitWords> {
  switch (verb) {
    case 'checkout':
      return { written: putBack(checkoutWords(rest).paths) }
    case 'restore': {
      const { paths, isWritten } = restoreWords(rest)
      return { written: isWritten ? putBack(paths) : [] }
    }
    case 'rm': {
      const sorted = sortWords(rest, { long: ['pathspec-from-file'] })
      return { written: hasOption(sorted, 'cached', 'n', 'dry-run') ? [] : sorted.plain }
    }
    case 'mv': {
      const sorted = sortWords(rest)
      if (hasOption(sorted, 'n', 'dry-run')) return {}
      return { written: [...sorted.plain.slice(0, -1), ...destination(sorted)] }
    }
    case 'worktree': {
      const { plain, options } = sortWords(rest)
      const isForced = options.some(({ name }) => name === 'f' || name === 'force')
      return plain[0]?.text === 'remove' && isForced ? { written: gone(plain.slice(1)) } : {}
    }
    case 'apply': {
      const sorted = sortWords(rest, { short: 'pC', long: ['exclude', 'include', 'directory', 'whitespace'] })
      if (hasOption(sorted, 'check', 'stat', 'numstat', 'summary', 'cached')) return {}
      const names = diffNames(valuesOf(sorted, 'p'), valuesOf(sorted, 'directory'))
      return names === undefined ? {} : { names, patches: sorted.plain.length === 0 ? 'stdin' : sorted.plain }
    }
    case 'add': {
      const { plain, options } = sortWords(rest, { long: ['chmod', 'pathspec-from-file'] })
      const has = (names: RegExp): boolean => options.some(({ name }) => names.test(name))
      const whole = has(/^(?:A|all|no-ignore-removal)$/) ? 'everything' : has(/^(?:u|update)$/) ? 'tracked' : null
      return { commits: 'add', all: plain.length === 0 ? whole : null, named: plain }
    }
    case 'commit': {
      const sorted = sortWords(rest, COMMIT)
      return { commits: 'commit', all: hasOption(sorted, 'a', 'all') ? 'tracked' : null, named: sorted.plain }
    }
    default:
      return {}
  }
}

/** Of a folder that is put back, git says what changes in it. */
const putBack = (paths: readonly Word[]): WrittenWord[] => paths.map((path) => ({ ...path, into: [] }))

/** `-c alias.x='commit -a'`, `git config alias.x '!rm a'`: what the name is to stand for. */
const aliasScript = ({ text, script }: Word): string[] => {
  const value = /^alias\.[^=]+=([^]*)$/i.exec(text ?? script ?? '')?.[1]
  return value === undefined ? [] : [expandedAlias(value)]
}

/** What `-c alias.NAME=VALUE` of the same command defines. */
function definition(own: SortedWords, name: string): string | null {
  const values = valuesOf(own, 'c').flatMap(({ text }) => {
    const [, key = '', value] = /^alias\.([^=]+)=([^]*)$/i.exec(text ?? '') ?? []
    return value === undefined || key.toLowerCase() !== name.toLowerCase() ? [] : [value]
  })
  return values.at(-1) ?? null
}

/** As a command line: git's own, or with `!` any. */
export const expandedAlias = (value: string): string =>
  value.trimStart().startsWith('!') ? value.trimStart().slice(1) : `git ${value}`

function scriptsOf(verb: string, rest: readonly Word[]): string[] {
  switch (verb) {
    case 'rebase':
      return valuesOf(sortWords(rest, { short: 'xXsC', long: ['exec', 'onto'] }), 'x', 'exec').flatMap(scriptText)
    case 'submodule': {
      const at = rest.findIndex(({ text }) => text === 'foreach')
      return at === -1
        ? []
        : [
            rest
              .slice(at + 1)
              .flatMap(scriptText)
              .join(' '),
          ]
    }
    default:
      return []
  }
}

function definedBy(rest: readonly Word[]): string[] {
  const plain = sortWords(rest, { short: 'f', long: ['file'] }).plain.map(({ text }) => text ?? '')
  const [key = '', value = ''] = plain[0] === 'set' ? plain.slice(1) : plain
  return /^alias\./i.test(key) && value !== '' ? [expandedAlias(value)] : []
}

const scriptText = ({ text, script }: Word): string[] => {
  const known = text ?? script
  return known === undefined ? [] : [known]
}

/** Commands of git's own, of which no other can have the name: those that agents use. */
const COMMANDS: ReadonlySet<string> = new Set(
  'add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit commit-tree config count-objects describe diff diff-files diff-index diff-tree fast-export fast-import fetch format-patch fsck gc grep hash-object help init interpret-trailers log ls-files ls-remote ls-tree merge merge-base merge-file merge-tree mv name-rev notes pack-refs prune pull push range-diff read-tree rebase reflog remote repack replace reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag update-index update-ref var verify-commit version whatchanged worktree write-tree'.split(
    ' ',
  ),
)
