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

export function unwrap(words: readonly Word[], cwd: string | null): Unwrapped {
  const [first] = words
  if (first === undefined) return { words, cwd }
  if (isKeyword(first) || /^[A-Za-z_]\w*\+?=/.test(first.text ?? first.head ?? '')) return unwrap(words.slice(1), cwd)
  if (first.text === null) return { words, cwd }
  const name = first.text.split('/').at(-1) ?? ''
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (wrapper === undefined) return { words, cwd }
  const sorted = sortWords(words.slice(1), { ...wrapper, isWrapper: true })
  const folder = valuesOf(sorted, ...(wrapper.folder ?? [])).reduce<string | null>(moved, cwd)
  return unwrap(sorted.plain.slice(wrapper.operands ?? 0), folder)
}

export function moved(here: string | null, to: Word | undefined): string | null {
  if (to?.text === undefined || to.text === null || to.isPattern || /^[-~]/.test(to.text) || to.text === '') return null
  if (to.text.startsWith('/')) return to.text
  return here === null ? null : here === '' ? to.text : `${here}/${to.text}`
}
