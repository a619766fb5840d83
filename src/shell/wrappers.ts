// `FOO=1 sudo timeout 3 rm a` is `rm a`: what stands before the program that does the work, and where it takes it.
import { type OptionRules, type SortedWords, sortWords, valuesOf } from './options.ts'
import { parseShell } from './parse.ts'
import type { Word } from './word.ts'

interface Wrapper extends OptionRules {
  /** Words of its own before the program. */
  readonly operands?: number
  /** Options that name the folder in which the program begins. */
  readonly folder?: readonly string[]
  /** Options whose value is words of a command line themselves. */
  readonly split?: readonly string[]
  /** It puts words of its own into the program's: in place of this sign, or of one that an option names, else behind them. */
  readonly fed?: { readonly sign: string; readonly options: readonly string[] }
}

const PLAIN: Wrapper = {}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    short: 'ugpChrtTUD',
    long: ['user', 'group', 'prompt', 'chdir', 'host', 'role', 'type', 'other-user', 'command-timeout'],
    folder: ['D', 'chdir'],
  },
  doas: { short: 'uC' },
  env: {
    short: 'uCS',
    long: ['unset', 'chdir', 'split-string'],
    folder: ['C', 'chdir'],
    split: ['S', 'split-string'],
  },
  timeout: { short: 'sk', long: ['signal', 'kill-after'], operands: 1 },
  nice: { short: 'n', long: ['adjustment'] },
  ionice: { short: 'cnpPu', long: ['class', 'classdata'] },
  chrt: { operands: 1 },
  taskset: { operands: 1 },
  flock: { short: 'wE', long: ['timeout', 'wait', 'conflict-exit-code'], operands: 1 },
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  time: { short: 'fo', long: ['format', 'output'] },
  exec: { short: 'a' },
  command: PLAIN,
  builtin: PLAIN,
  nohup: PLAIN,
  setsid: PLAIN,
  busybox: PLAIN,
  toybox: PLAIN,
  coproc: PLAIN,
  noglob: PLAIN,
  nocorrect: PLAIN,
  unbuffer: PLAIN,
  chronic: PLAIN,
  caffeinate: { short: 'tw' },
  strace: { short: 'abeEIoOpPsSuUX' },
  unshare: { short: 'SGRw', long: ['setuid', 'setgid', 'root', 'wd'] },
  faketime: { operands: 1 },
  npx: { short: 'pw', long: ['package', 'workspace'] },
  bunx: PLAIN,
  uvx: { short: 'p', long: ['from', 'with', 'python'] },
  xargs: {
    short: 'IEadnLPs',
    attached: 'eil',
    long: ['arg-file', 'delimiter', 'max-args', 'max-chars', 'max-procs', 'process-slot-var'],
    fed: { sign: '', options: ['I', 'i', 'replace'] },
  },
  parallel: {
    short: 'jNnLsSad',
    long: ['jobs', 'max-args', 'arg-file', 'delimiter', 'joblog', 'sshlogin'],
    fed: { sign: '{}', options: ['I'] },
  },
}

export interface Unwrapped {
  readonly words: readonly Word[]
  /** Null where only the shell knows. */
  readonly cwd: string | null
  /** Variables that the program is given: `NAME=value`. */
  readonly given: readonly Word[]
  /** Names of the programs that were taken off: `sudo`, `env`. */
  readonly wrappers: readonly string[]
}

/** `sudo sudo …`: nobody needs more of them. */
const WRAPPERS_MAX = 16

export function unwrap(all: readonly Word[], cwd: string | null): Unwrapped {
  const given: Word[] = []
  const wrappers: string[] = []
  let words = all
  let folder = cwd
  for (let count = 0; count < WRAPPERS_MAX; count += 1) {
    const from = words.findIndex((word) => !isAssignment(word))
    given.push(...words.slice(0, from === -1 ? undefined : from).filter(isAssignment))
    words = from === -1 ? [] : words.slice(from)
    const [first, ...rest] = words
    const name = first?.text?.split('/').at(-1) ?? ''
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
    if (first === undefined || wrapper === undefined) break
    const sorted = sortWords(rest, { ...wrapper, isWrapper: true })
    folder = valuesOf(sorted, ...(wrapper.folder ?? [])).reduce<string | null>(moved, folder)
    words = wrapped(wrapper, first, sorted)
    wrappers.push(name)
  }
  return { words, cwd: folder, given, wrappers }
}

function wrapped(wrapper: Wrapper, first: Word, sorted: SortedWords): readonly Word[] {
  const own = fedWith(wrapper, sorted, sorted.plain.slice(wrapper.operands ?? 0))
  // `flock FILE -c SCRIPT`
  const left = own[0]?.text === '-c' ? [SHELL, ...own] : own
  const split = splitOf(wrapper, sorted)
  // What is split may hold options of the wrapper itself.
  return split.length === 0 ? left : [first, ...split, ...left]
}

const splitOf = ({ split = [] }: Wrapper, sorted: SortedWords): Word[] =>
  valuesOf(sorted, ...split).flatMap(({ text, script }) => [
    ...(parseShell(text ?? script ?? '').commands[0]?.words ?? []),
  ])

const SHELL: Word = { text: 'sh', isPattern: false }
const UNKNOWN: Word = { text: null, isPattern: false }

function fedWith({ fed }: Wrapper, sorted: SortedWords, words: readonly Word[]): readonly Word[] {
  if (fed === undefined || words.length === 0) return words
  const end = words.findIndex(({ text }) => text?.startsWith(':::') === true)
  const own = end === -1 ? words : words.slice(0, end)
  const isNamed = sorted.options.some(({ name }) => fed.options.includes(name))
  const sign = valuesOf(sorted, ...fed.options)[0]?.text ?? (isNamed ? '{}' : fed.sign)
  if (sign !== '' && (isNamed || own.some(({ text }) => text?.includes(sign) === true)))
    return own.map((word) => (word.text?.includes(sign) === true ? { ...UNKNOWN, head: '' } : word))
  return [...own, UNKNOWN]
}

export const isAssignment = ({ text, head }: Word): boolean => /^[A-Za-z_]\w*\+?=/.test(text ?? head ?? '')

export function moved(here: string | null, to: Word | undefined): string | null {
  if (to?.text === undefined || to.text === null || to.isPattern || /^-|^$/.test(to.text)) return null
  if (to.text.startsWith('~')) return to.isHome === true ? to.text : null
  if (to.text.startsWith('/')) return to.text
  return here === null ? null : here === '' ? to.text : `${here}/${to.text}`
}
