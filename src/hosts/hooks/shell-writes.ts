// Where a shell command surely writes. What cannot be told is not guessed: it is let through, and watched for.
import { gitWords } from './git-words.ts'
import {
  below,
  type DiffNames,
  handedOver,
  patchWords,
  programWords,
  wordsOfPatch,
  type WrittenWord,
} from './shell-programs.ts'
import { sortWords } from './shell-options.ts'
import { readShell, type SimpleCommand, type Word } from './shell-words.ts'
import { moved, unwrap } from './shell-wrappers.ts'

export interface WriteTarget {
  /** As written, from `cwd` on; `~` at its beginning is the user's home. */
  readonly path: string
  /** Folder that the command has changed to by then; `''` is where it began. */
  readonly cwd: string
  /** A pattern that the shell will fill in. */
  readonly isPattern: boolean
  /** It is taken away, with all that is in it. */
  readonly isGone?: true
  /** Where it is a folder, these in it are written and not the folder itself. */
  readonly into?: readonly WriteTarget[]
}

/** A diff that is applied: what it names is read by whoever knows the disk. */
export interface AppliedDiff extends DiffNames {
  /** The file that it is in, or the diff itself. */
  readonly diff: WriteTarget | string
  /** Folder that it is applied in. */
  readonly cwd: string
  /** By git, which goes by the top of the repository where git has written the diff. */
  readonly isGit: boolean
}

export interface ShellWrites {
  readonly targets: readonly WriteTarget[]
  readonly diffs: readonly AppliedDiff[]
  /** A way past the guards. */
  readonly bypass: string | null
  /** What it commits besides what is staged by then; null where it commits nothing. */
  readonly commit: CommitWords | null
}

export interface CommitWords {
  /** Folder that git works in. */
  readonly cwd: string
  /** What goes in besides: what has changed of files that git knows, or everything that is new too. */
  readonly all: 'tracked' | 'everything' | null
  readonly paths: readonly WriteTarget[]
}

const NOTHING: ShellWrites = { targets: [], diffs: [], bypass: null, commit: null }
const HOME: Word = { text: '~', isPattern: false, isHome: true }
/** Commands inside of commands: `bash -c 'sh -c …'`. */
const DEPTH_MAX = 4

/** `cwd`: null where only the shell knows; then nothing but absolute paths and ways past the guard are found. */
export function shellWrites(command: string, cwd: string | null = '', depth = 0): ShellWrites {
  const commands = depth > DEPTH_MAX ? undefined : readShell(command)
  if (commands === undefined) return NOTHING
  const found: Found[] = []
  const folders = new Folders(cwd)
  for (const simple of commands) {
    const { words, cwd: here } = unwrap(simple.words, folders.of(simple.shells))
    const name = words[0]?.text ?? ''
    if (name === 'cd' && words.length === 1) folders.move(simple.shells, HOME)
    else if (name === 'cd' || name === 'pushd') folders.move(simple.shells, sortWords(words.slice(1)).plain[0])
    else if (name === 'popd') folders.move(simple.shells, undefined)
    // What is redirected is opened by the shell itself, before any wrapper goes elsewhere.
    found.push({ ...NOTHING, targets: targetsOf(redirected(simple), folders.of(simple.shells)) })
    found.push(writesOf(simple, words, here, depth))
  }
  return {
    targets: found.flatMap(({ targets }) => targets),
    diffs: found.flatMap(({ diffs }) => diffs),
    bypass: found.find(({ bypass }) => bypass !== null)?.bypass ?? null,
    commit: commitOf(found),
  }
}

/** Where each shell of a command line is by now; null where only the shell knows. */
class Folders {
  readonly #known = new Map<string, string | null>()

  constructor(cwd: string | null) {
    this.#known.set('', cwd)
  }

  of(shells: readonly number[]): string | null {
    const known = this.#known.get(shells.join())
    if (known !== undefined) return known
    // It begins where the one around it is.
    const folder = this.of(shells.slice(0, -1))
    this.#known.set(shells.join(), folder)
    return folder
  }

  move(shells: readonly number[], to: Word | undefined): void {
    this.#known.set(shells.join(), moved(this.of(shells), to))
  }
}

interface Found extends ShellWrites {
  /** What `git add` and `git commit` name. */
  readonly added?: CommitWords | undefined
}

/** What was added before counts, once something is committed. */
function commitOf(found: readonly Found[]): CommitWords | null {
  const commits = found.flatMap(({ commit }) => commit ?? [])
  const [first] = commits
  if (first === undefined) return null
  const all = [...found.flatMap(({ added }) => added ?? []), ...commits]
  const whole = (['everything', 'tracked'] as const).find((word) => all.some((one) => one.all === word)) ?? null
  return { cwd: first.cwd, all: whole, paths: all.flatMap(({ paths }) => paths) }
}

const redirected = ({ redirections }: SimpleCommand): Word[] =>
  redirections
    .filter(({ operator, target }) => /^(?:&?>>?|>\||<>)$|^>&$/.test(operator) && !isStream(operator, target))
    .map(({ target }) => target)

/** `2>&1`, `>&-`, `/dev/null`. */
function isStream(operator: string, { text }: Word): boolean {
  return text === null || text.startsWith('/dev/') || (operator === '>&' && /^(?:\d+|-)$/.test(text))
}

function targetsOf(words: readonly WrittenWord[], cwd: string | null): WriteTarget[] {
  return words.flatMap((word) => {
    const { text, isPattern, isHome, into, isGone } = word
    if (text === null || text === '' || text === '-' || text.startsWith('/dev/')) return []
    // Another's home, or a `~` in quotes.
    if (text.startsWith('~') && isHome !== true) return []
    if (cwd === null && !/^[/~]/.test(text)) return []
    const target = { path: text, cwd: cwd ?? '', isPattern, ...(isGone === true ? { isGone } : {}) }
    if (into === undefined) return [target]
    return [
      {
        ...target,
        into: targetsOf(
          into.map((name) => below(word, name)),
          cwd,
        ),
      },
    ]
  })
}

function writesOf(simple: SimpleCommand, words: readonly Word[], cwd: string | null, depth: number): Found {
  const [program, ...args] = words
  const name = program?.text?.split('/').at(-1) ?? ''
  switch (name) {
    case '':
      return NOTHING
    case 'apply_patch':
    case 'applypatch':
      return { ...NOTHING, targets: targetsOf(wordsOfPatch(handedOver(simple).text ?? args[0]?.text ?? ''), cwd) }
    case 'patch': {
      const { written, patches, folder, names } = patchWords(args)
      const there = folder === undefined ? cwd : moved(cwd, folder)
      const diffs = names === undefined ? [] : applied(simple, patches, cwd, { ...names, there, isGit: false })
      return { ...NOTHING, diffs, targets: targetsOf(written, there) }
    }
    case 'bash':
    case 'sh':
    case 'zsh':
    case 'dash':
    case 'eval': {
      const script = name === 'eval' ? joined(args) : scriptOf(simple, args)
      return script === null ? NOTHING : shellWrites(script, cwd, depth + 1)
    }
    case 'git':
      return gitWrites(simple, args, cwd)
    case 'heimdall':
      return { ...NOTHING, bypass: wayOut(args) }
    default:
      return { ...NOTHING, targets: targetsOf(programWords(name, args) ?? [], cwd) }
  }
}

/** `bash -c SCRIPT`, or what it is handed on its input. */
function scriptOf(simple: SimpleCommand, args: readonly Word[]): string | null {
  const at = args.findIndex(({ text }) => text !== null && /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text))
  if (at !== -1) return args[at + 1]?.text ?? null
  return args.some(({ text }) => text === null || !text.startsWith('-')) ? null : handedOver(simple).text
}

const joined = (args: readonly Word[]): string | null =>
  args.some(({ text }) => text === null) ? null : args.map(({ text }) => text).join(' ')

function gitWrites(simple: SimpleCommand, args: readonly Word[], from: string | null): Found {
  const { cwd, written, patches, names, bypass, commits, all, named } = gitWords(args, from)
  const words = cwd === null ? null : { cwd, all, paths: targetsOf(named, cwd) }
  return {
    targets: targetsOf(written, cwd),
    diffs: applied(simple, patches, cwd, { ...names, there: cwd, isGit: true }),
    bypass,
    commit: commits === 'commit' ? words : null,
    added: commits === 'add' ? (words ?? undefined) : undefined,
  }
}

/** Commands of ours that take a guard away: for a person, at a terminal of their own. */
const WAYS_OUT = [['uninstall'], ['guard', 'uninstall'], ['restore']] as const

function wayOut(args: readonly Word[]): string | null {
  const plain = args.flatMap(({ text }) => (text === null || text.startsWith('-') ? [] : [text]))
  if (args.some(({ text }) => text === '--dry-run' || text === '--help')) return null
  const way = WAYS_OUT.find((words) => words.every((word, at) => plain[at] === word))
  return way === undefined ? null : `heimdall ${way.join(' ')}`
}

function applied(
  simple: SimpleCommand,
  patches: readonly Word[] | 'stdin',
  cwd: string | null,
  { there, ...names }: DiffNames & { readonly there: string | null; readonly isGit: boolean },
): AppliedDiff[] {
  if (there === null) return []
  const { files, text } = patches === 'stdin' ? handedOver(simple) : { files: patches, text: null }
  const diffs = [...targetsOf(files, cwd), ...(text === null ? [] : [text])]
  return diffs.map((diff) => ({ diff, cwd: there, ...names }))
}
