// Where a shell command surely writes. What cannot be told is not guessed: it is let through, and watched for.
import { findWords } from './find.ts'
import type { GitQuestion } from './git-losses.ts'
import { expandedAlias, gitWords } from './git-words.ts'
import { type DiffNames, handedOver, patchWords, programWords, wordsOfPatch } from './programs.ts'
import { sortWords } from './options.ts'
import { parseShell, type SimpleCommand } from './parse.ts'
import { locatedOf, redirected, targetsOf, type WriteTarget } from './targets.ts'
import type { Word } from './word.ts'
import { isKnownProgram } from './known-programs.ts'
import { scriptHanded, SHELLS } from './scripts.ts'
import { isAssignment, moved, unwrap } from './wrappers.ts'

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
  /** What git would be asked about what it takes away. */
  readonly losses: readonly GitLoss[]
  /** Commands of git that it may not know itself. */
  readonly aliases: readonly GitAlias[]
  /** Every program that runs, wrappers and shells taken off. */
  readonly runs: readonly ShellRun[]
  /** The line has a syntax error or exceeds a bound: more may run than was found. */
  readonly isUnread: boolean
}

/** One program with its arguments, and what it does. */
export interface ShellRun {
  /** Without its folder; empty where only the shell knows it. */
  readonly name: string
  readonly words: readonly Word[]
  /** Programs that it was started by: `sudo`, `xargs`, `bash`. */
  readonly wrappers: readonly string[]
  readonly targets: readonly WriteTarget[]
  /** A program whose effects the tables know. */
  readonly isKnown: boolean
  /** It runs code that is not on the command line: `base64 -d | sh`, `eval "$X"`, `$X`. */
  readonly isOpaque: boolean
}

export interface GitLoss {
  readonly question: GitQuestion
  /** Folder that git works in. */
  readonly cwd: string
}

/** A command of git with a name of the user's choice, perhaps; git's configuration says what it stands for. */
export interface GitAlias {
  readonly name: string
  readonly rest: readonly Word[]
  readonly given: readonly Word[]
  /** Folder that git works in; null where only the shell knows. */
  readonly cwd: string | null
}

export interface CommitWords {
  /** Folder that git works in. */
  readonly cwd: string
  /** What goes in besides: what has changed of files that git knows, or everything that is new too. */
  readonly all: 'tracked' | 'everything' | null
  readonly paths: readonly WriteTarget[]
}

const NOTHING: ShellWrites = {
  targets: [],
  diffs: [],
  bypass: null,
  commit: null,
  losses: [],
  aliases: [],
  runs: [],
  isUnread: false,
}
/** Builtins that give variables to what follows. */
const GIVING: ReadonlySet<string> = new Set(['export', 'declare', 'typeset'])
const HOME: Word = { text: '~', isPattern: false, isHome: true }
/** Programs that read code from their input. */
const INTERPRETERS = /^(?:python|node|deno|bun|perl|ruby|php|lua|tclsh|osascript|Rscript|pwsh|powershell)[\d.]*$/
/** Commands inside of commands: `bash -c 'sh -c …'`. */
const DEPTH_MAX = 4

/** `cwd`: null where only the shell knows; then nothing but absolute paths and ways past the guard are found. */
export function shellWrites(command: string, cwd: string | null = ''): ShellWrites {
  return located(writesIn(command, cwd, 0))
}

const located = (writes: ShellWrites): ShellWrites => ({
  ...writes,
  targets: writes.targets.filter(({ isUnlocated }) => isUnlocated !== true),
})

function writesIn(command: string, cwd: string | null, depth: number): ShellWrites {
  if (depth > DEPTH_MAX) return { ...NOTHING, isUnread: true }
  const { commands, isComplete } = parseShell(command)
  const found: Found[] = [{ ...NOTHING, isUnread: !isComplete }]
  const folders = new Folders(cwd)
  const exported: Word[] = []
  for (const simple of commands) {
    const { words, cwd: here, given, wrappers } = unwrap(simple.words, folders.of(simple.shells))
    const name = words[0]?.text ?? ''
    if (name === 'cd' && words.length === 1) folders.move(simple.shells, HOME)
    else if (name === 'cd' || name === 'pushd') folders.move(simple.shells, sortWords(words.slice(1)).plain[0])
    else if (name === 'popd') folders.move(simple.shells, undefined)
    if (words.length === 0 || GIVING.has(name)) exported.push(...given, ...words.slice(1).filter(isAssignment))
    // What is redirected is opened by the shell itself, before any wrapper goes elsewhere.
    const opened = targetsOf(redirected(simple), folders.of(simple.shells))
    found.push({ ...NOTHING, targets: opened })
    found.push(writesOf({ simple, words, cwd: here, given: [...exported, ...given], depth, wrappers }, opened))
  }
  return together(found)
}

/** What several commands do, one after the other. */
export function together(found: readonly Found[]): ShellWrites {
  return {
    targets: found.flatMap(({ targets }) => targets),
    diffs: found.flatMap(({ diffs }) => diffs),
    bypass: found.find(({ bypass }) => bypass !== null)?.bypass ?? null,
    commit: commitOf(found),
    losses: found.flatMap(({ losses }) => losses),
    aliases: found.flatMap(({ aliases }) => aliases),
    runs: found.flatMap(({ runs }) => runs),
    isUnread: found.some(({ isUnread }) => isUnread),
  }
}

/** What a command with a name of the user's choice does, once it is known what the name stands for. */
export function aliasWrites(alias: GitAlias, value: string): ShellWrites {
  return located(aliasIn(alias, value, 0))
}

function aliasIn({ cwd, rest, given }: GitAlias, value: string, depth: number): ShellWrites {
  const expanded = expandedAlias(value)
  const { commands } = parseShell(expanded)
  const [simple] = commands
  if (expanded === value.trimStart().slice(1) || simple === undefined || commands.length !== 1)
    return writesIn(expanded, cwd, depth + 1)
  const words = [...simple.words, ...rest]
  return together([writesOf({ simple, words, cwd, given, depth: depth + 1, wrappers: [] })])
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

/** A command without what stands before it. */
interface Bare {
  readonly simple: SimpleCommand
  readonly words: readonly Word[]
  readonly cwd: string | null
  readonly given: readonly Word[]
  readonly depth: number
  readonly wrappers: readonly string[]
}

/** `opened`: what the shell itself opens for it. */
function writesOf(bare: Bare, opened: readonly WriteTarget[] = []): Found {
  const { words, wrappers } = bare
  const found = effectsOf(bare)
  const [program] = words
  const targets = [...opened, ...found.targets]
  if (program === undefined)
    return targets.length === 0 ? found : { ...found, runs: [{ ...NO_RUN, targets }, ...found.runs] }
  const name = nameOf(program)
  const isShell = SHELLS.has(name)
  const args = words.slice(1)
  const run: ShellRun = {
    name,
    words: name === 'git' ? [program, ...gitWords(args, null).plain] : words,
    wrappers,
    targets,
    isKnown: isKnownProgram(name) || found.runs.length > 0 || programWords(name, args) !== undefined,
    isOpaque: program.text === null || (found.runs.length === 0 && isFedCode(name, args, bare.simple)),
  }
  const inner = isShell
    ? found.runs.map((one) => ({ ...one, wrappers: [...wrappers, name, ...one.wrappers] }))
    : found.runs
  return { ...found, runs: [run, ...inner] }
}

const NO_RUN: ShellRun = { name: '', words: [], wrappers: [], targets: [], isKnown: true, isOpaque: false }

const nameOf = ({ text }: Word): string => text?.split('/').at(-1) ?? ''

/** A shell or an interpreter that reads its program from a pipe, or from a word that only the shell knows. */
function isFedCode(name: string, args: readonly Word[], { from, redirections }: SimpleCommand): boolean {
  if (!SHELLS.has(name) && !INTERPRETERS.test(name) && name !== 'eval') return false
  if (args.some(({ text }) => text === null)) return true
  const isFile =
    args.some(({ text }) => text !== null && !text.startsWith('-')) &&
    !args.some(({ text }) => /^-[a-z]*s/.test(text ?? ''))
  return !isFile && (from !== undefined || redirections.some(({ operator }) => operator.startsWith('<')))
}

function effectsOf(bare: Bare): Found {
  const { simple, words, cwd, depth } = bare
  const [program, ...args] = words
  const name = program === undefined ? '' : nameOf(program)
  switch (name) {
    case '':
      // `$SUDO git commit …`: what only the shell knows may be nothing, or run the rest.
      return program?.text === null && args.length > 0 ? { ...NOTHING, bypass: runBy(bare, '', args).bypass } : NOTHING
    case 'apply_patch':
    case 'applypatch':
      return { ...NOTHING, targets: targetsOf(wordsOfPatch(handedOver(simple).text ?? args[0]?.text ?? ''), cwd) }
    case 'patch': {
      const { written, patches, folder, names } = patchWords(args)
      const there = folder === undefined ? cwd : moved(cwd, folder)
      const diffs = names === undefined ? [] : applied(simple, patches, cwd, { ...names, there, isGit: false })
      return { ...NOTHING, diffs, targets: targetsOf(written, there) }
    }
    case 'git':
      return gitWrites(bare, args)
    case 'heimdall':
    case 'sub':
      return { ...NOTHING, bypass: wayOut(name, args) }
    case 'find':
      return foundFiles(bare, args)
    case 'alias':
      return { ...NOTHING, bypass: defined(args.flatMap(aliasValue), depth) }
    default: {
      const script = scriptHanded(name, args, simple)
      if (script !== undefined) return script === null ? NOTHING : writesIn(script, cwd, depth + 1)
      return { ...NOTHING, targets: targetsOf(programWords(name, args) ?? [], cwd) }
    }
  }
}

/** Of commands that are not run yet, a way past the guards. */
const defined = (scripts: readonly string[], depth: number): string | null =>
  scripts.map((script) => writesIn(script, null, depth + 1).bypass).find((bypass) => bypass !== null) ?? null

/** `alias g='git commit'`. */
const aliasValue = ({ text, script }: Word): string[] => {
  const value = /^[^=]+=([^]*)$/.exec(text ?? script ?? '')?.[1]
  return value === undefined ? [] : [value]
}

/** A program that another one runs. */
function runBy(
  { simple, cwd, given, depth }: Omit<Bare, 'words' | 'wrappers'>,
  by: string,
  words: readonly Word[],
): Found {
  if (words.length === 0) return NOTHING
  if (depth > DEPTH_MAX) return { ...NOTHING, isUnread: true }
  const inner = unwrap(words, cwd)
  const wrappers = [by, ...inner.wrappers]
  return writesOf({ ...inner, simple, given: [...given, ...inner.given], depth: depth + 1, wrappers })
}

/** `find src -name x -exec rm {} +`: the program that it runs, on files somewhere below the folders that it goes through. */
function foundFiles({ simple, cwd, given, depth }: Bare, args: readonly Word[]): Found {
  const { roots, runs, files, removes } = findWords(args)
  const inner = runs.map((words) => runBy({ simple, cwd, given, depth }, 'find', words))
  const below = targetsOf(removes ? roots : [], cwd).map((target) => ({ ...target, isSomewhere: true }) as const)
  return together([...inner, { ...NOTHING, targets: [...targetsOf(files, cwd), ...below] }])
}

function gitWrites({ simple, cwd: from, given, depth }: Bare, args: readonly Word[]): Found {
  const git = gitWords(args, from, given)
  const { cwd, written, patches, names, commits, all, named, alias } = git
  const words = cwd === null ? null : { cwd, all, paths: targetsOf(named, cwd) }
  const run = together([
    ...git.scripts.map((script) => writesIn(script, cwd, depth + 1)),
    ...(alias?.value == null ? [] : [aliasIn({ ...alias, cwd, given }, alias.value, depth)]),
    runBy({ simple, cwd, given, depth }, 'git', git.runs),
  ])
  return {
    ...run,
    targets: [...targetsOf(written, cwd), ...run.targets],
    diffs: [...applied(simple, patches, cwd, { ...names, there: cwd, isGit: true }), ...run.diffs],
    losses: [...(cwd === null ? [] : git.losses.map((question) => ({ question, cwd }))), ...run.losses],
    bypass: git.bypass ?? run.bypass ?? defined(git.defined, depth),
    commit: commits === 'commit' ? words : run.commit,
    added: commits === 'add' ? (words ?? undefined) : undefined,
    aliases: alias === null ? run.aliases : [{ ...alias, cwd, given }],
  }
}

/** Commands of ours that take a guard away: for a person, at a terminal of their own. */
const WAYS_OUT = [['uninstall'], ['guard', 'uninstall'], ['mcp', 'restore'], ['restore']] as const

function wayOut(program: string, args: readonly Word[]): string | null {
  const plain = args.flatMap(({ text }) => (text === null || text.startsWith('-') ? [] : [text]))
  if (args.some(({ text }) => text === '--dry-run' || text === '--help')) return null
  const way = WAYS_OUT.find((words) => words.every((word, at) => plain[at] === word))
  return way === undefined ? null : `${program} ${way.join(' ')}`
}

function applied(
  simple: SimpleCommand,
  patches: readonly Word[] | 'stdin',
  cwd: string | null,
  { there, ...names }: DiffNames & { readonly there: string | null; readonly isGit: boolean },
): AppliedDiff[] {
  if (there === null) return []
  const { files, text } = patches === 'stdin' ? handedOver(simple) : { files: patches, text: null }
  const diffs = [...locatedOf(files, cwd), ...(text === null ? [] : [text])]
  return diffs.map((diff) => ({ diff, cwd: there, ...names }))
}
