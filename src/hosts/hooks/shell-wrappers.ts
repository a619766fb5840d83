// `FOO=1 sudo timeout 3 rm a` is `rm a`: what stands before the program that does the work, and where it takes it.
import { type OptionRules, sortWords, valuesOf } from './shell-options.ts'
import { isKeyword, type Word } from './shell-words.ts'

interface Wrapper extends OptionRules {
  /** Words of its own before the program. */
  readonly operands?: number
  /** Options that name the folder in which the program begins. */
  readonly folder?: readonly string[]
}

const PLAIN: Wrapper = {}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    short: 'ugpChrtTUD',
    long: ['user', 'group', 'prompt', 'chdir', 'host', 'role', 'type', 'other-user', 'command-timeout'],
    folder: ['D', 'chdir'],
  },
  doas: { short: 'uC' },
  env: { short: 'uCS', long: ['unset', 'chdir', 'split-string'], folder: ['C', 'chdir'] },
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
}

export interface Unwrapped {
  readonly words: readonly Word[]
  /** Null where only the shell knows. */
  readonly cwd: string | null
}

/** `sudo sudo …`: nobody needs more of them. */
const WRAPPERS_MAX = 16

export function unwrap(words: readonly Word[], cwd: string | null): Unwrapped {
  let inner: Unwrapped = { words, cwd }
  for (let count = 0; count < WRAPPERS_MAX; count += 1) {
    const from = inner.words.findIndex((word) => !isKeyword(word) && !isAssignment(word))
    if (from === -1) return { words: [], cwd: inner.cwd }
    const [first, ...rest] = inner.words.slice(from)
    const name = first?.text?.split('/').at(-1) ?? ''
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
    if (first === undefined || wrapper === undefined) return { words: inner.words.slice(from), cwd: inner.cwd }
    const sorted = sortWords(rest, { ...wrapper, isWrapper: true })
    const folder = valuesOf(sorted, ...(wrapper.folder ?? [])).reduce<string | null>(moved, inner.cwd)
    inner = { words: sorted.plain.slice(wrapper.operands ?? 0), cwd: folder }
  }
  return inner
}

const isAssignment = ({ text, head }: Word): boolean => /^[A-Za-z_]\w*\+?=/.test(text ?? head ?? '')

export function moved(here: string | null, to: Word | undefined): string | null {
  if (to?.text === undefined || to.text === null || to.isPattern || /^-|^$/.test(to.text)) return null
  if (to.text.startsWith('~')) return to.isHome === true ? to.text : null
  if (to.text.startsWith('/')) return to.text
  return here === null ? null : here === '' ? to.text : `${here}/${to.text}`
}
