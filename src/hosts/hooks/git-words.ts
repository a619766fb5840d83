// What git does to the work tree, and whether it goes past its own hooks.
import { hasOption, type SortedWords, sortWords, valuesOf } from './shell-options.ts'
import { destination, diffNames, type DiffNames, type WrittenWord } from './shell-programs.ts'
import { moved } from './shell-wrappers.ts'
import type { Word } from './shell-words.ts'

export interface GitWords {
  /** Where it works; null where only the shell knows. */
  readonly cwd: string | null
  readonly written: readonly WrittenWord[]
  /** Files with a diff that is applied; `stdin` where it is handed over. */
  readonly patches: readonly Word[] | 'stdin'
  readonly names: DiffNames
  readonly bypass: string | null
  readonly commits: 'add' | 'commit' | null
  /** What goes in besides what is named: what has changed of files that git knows, or everything that is new too. */
  readonly all: 'tracked' | 'everything' | null
  readonly named: readonly Word[]
}

const OWN = { short: 'Cc', long: ['git-dir', 'work-tree', 'namespace', 'exec-path'], isWrapper: true } as const

export function gitWords(args: readonly Word[], cwd: string | null): GitWords {
  const own = sortWords(args, OWN)
  const verb = own.plain[0]?.text ?? ''
  const rest = own.plain.slice(1)
  const folder = valuesOf(own, 'C').reduce<string | null>(moved, cwd)
  const nothing: GitWords = {
    cwd: hasOption(own, 'git-dir', 'work-tree') ? null : folder,
    written: [],
    patches: [],
    names: { strip: undefined, below: '' },
    bypass: bypassOf(verb, own, rest),
    commits: null,
    all: null,
    named: [],
  }
  return nothing.bypass === null ? { ...nothing, ...wordsOf(verb, rest) } : nothing
}

function wordsOf(verb: string, rest: readonly Word[]): Partial<GitWords> {
  const dashes = rest.findIndex(({ text }) => text === '--')
  const behind = dashes === -1 ? [] : rest.slice(dashes + 1)
  switch (verb) {
    case 'checkout':
      return { written: dashes === -1 ? rest.filter(isNoBranch) : behind }
    case 'restore': {
      const sorted = sortWords(rest, { short: 's', long: ['source', 'conflict', 'pathspec-from-file'] })
      const isStagedOnly = hasOption(sorted, 'staged', 'S') && !hasOption(sorted, 'worktree', 'W')
      return { written: isStagedOnly ? [] : sorted.plain }
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
      const sorted = commitWords(rest)
      return { commits: 'commit', all: hasOption(sorted, 'a', 'all') ? 'tracked' : null, named: sorted.plain }
    }
    default:
      return {}
  }
}

/** No branch is called so, so it can only be a path. */
const isNoBranch = ({ text }: Word): boolean => text !== null && /^\.{1,2}(?:\/|$)|.\/$/.test(text)

const commitWords = (rest: readonly Word[]): SortedWords =>
  sortWords(rest, {
    short: 'CcFmt',
    attached: 'uS',
    long: [
      'message',
      'file',
      'template',
      'author',
      'date',
      'reuse-message',
      'reedit-message',
      'fixup',
      'squash',
      'trailer',
      'cleanup',
    ],
  })

function bypassOf(verb: string, own: SortedWords, rest: readonly Word[]): string | null {
  const texts = rest.map(({ text }) => text ?? '')
  const takesVerify = ['commit', 'push', 'merge', 'am', 'rebase', 'cherry-pick', 'pull'].includes(verb)
  if (takesVerify && texts.includes('--no-verify')) return `git ${verb} --no-verify`
  if (verb === 'commit' && hasOption(commitWords(rest), 'n'))
    return `git commit ${texts.find((text) => /^-[a-zA-Z]*n/.test(text)) ?? '-n'}`
  if (valuesOf(own, 'c').some(({ text }) => /^core\.hookspath=/i.test(text ?? ''))) return 'git -c core.hooksPath'
  const [key, ...values] = texts.filter((text) => !text.startsWith('-'))
  return verb === 'config' && /^core\.hookspath$/i.test(key ?? '') && values.length > 0
    ? 'git config core.hooksPath'
    : null
}
