// What a shell is given to run by a command line: `bash -c '…'`, `eval …`, what it is handed on its input.
import { handedOver } from './programs.ts'
import { sortWords, valuesOf } from './options.ts'
import type { SimpleCommand } from './parse.ts'
import type { Word } from './word.ts'

export const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'rbash'])
/** Programs that hand the value of an option to a shell. */
const BY_OPTION: Readonly<Record<string, readonly string[]>> = {
  su: ['c', 'command', 'session-command'],
  runuser: ['c', 'command', 'session-command'],
  script: ['c', 'command'],
  sg: ['c'],
}

/** Undefined for a program that is no shell; null where only the shell knows what it runs. */
export function scriptHanded(name: string, args: readonly Word[], simple: SimpleCommand): string | null | undefined {
  if (SHELLS.has(name)) return scriptOf(simple, args)
  if (name === 'eval' || name === 'watch') return joined(args.filter((word) => name === 'eval' || !isOption(word)))
  // `trap 'rm a' EXIT`
  if (name === 'trap') return args.length < 2 ? null : known(args.find((word) => !isOption(word)))
  const options = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name] : undefined
  if (options === undefined) return undefined
  return known(valuesOf(sortWords(args, { short: 'cgGswTtEIOBm', long: options }), ...options)[0])
}

/** `bash -c SCRIPT`, or what it is handed on its input. */
function scriptOf(simple: SimpleCommand, args: readonly Word[]): string | null {
  const at = args.findIndex(({ text }) => text !== null && /^-[a-zA-Z]*c[a-zA-Z]*$/.test(text))
  if (at !== -1) return known(args.slice(at + 1).find((word) => !isOption(word)))
  return args.some((word) => !isOption(word)) ? null : (handedOver(simple).text ?? printed(simple.from))
}

/** What a program before it in the pipe prints, where the command line says it. */
function printed(from: SimpleCommand | undefined): string | null {
  if (from === undefined) return null
  const [program, ...args] = from.words
  const name = program?.text?.split('/').at(-1)
  if (name === 'cat') return args.length === 0 ? handedOver(from).text : null
  const words = args.filter(({ text }) => text === null || !/^-[neE]+$/.test(text))
  if (name === 'echo') return joined(words)
  return name === 'printf' && words.length === 1 ? (known(words[0])?.replaceAll('\\n', '\n') ?? null) : null
}

const isOption = ({ text }: Word): boolean => text?.startsWith('-') === true

/** With the parts that only the shell knows as they are written: the shell that it is handed to reads them as such again. */
const known = (word: Word | undefined): string | null => word?.text ?? word?.script ?? null

const joined = (args: readonly Word[]): string => args.flatMap((word) => known(word) ?? []).join(' ')
