// The words behind a program, told apart: options, their values, and the rest, by the program's own rules.
import type { Word } from './shell-words.ts'

export interface OptionRules {
  /** Letters whose value is the rest of the word, or the next one. */
  readonly short?: string
  /** Letters whose value can only be the rest of the word. */
  readonly attached?: string
  /** Names whose value is behind `=`, or the next word. */
  readonly long?: readonly string[]
  /** What is behind the first word that is no option is another program's. */
  readonly isWrapper?: true
}

export interface Option {
  /** Without its dashes. */
  readonly name: string
  readonly value: Word | undefined
}

export interface SortedWords {
  readonly plain: readonly Word[]
  readonly options: readonly Option[]
}

export function sortWords(args: readonly Word[], rules: OptionRules = {}): SortedWords {
  const plain: Word[] = []
  const options: Option[] = []
  const left = [...args]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const { text } = word
    if (text === '--') return { plain: [...plain, ...left], options }
    if (text === null || !/^-./.test(text)) {
      plain.push(word)
      if (rules.isWrapper === true) return { plain: [...plain, ...left], options }
    } else if (text.startsWith('--')) options.push(longOption(text.slice(2), word, rules, left))
    else options.push(...shortOptions(text.slice(1), word, rules, left))
  }
  return { plain, options }
}

function longOption(text: string, { isPattern }: Word, { long = [] }: OptionRules, left: Word[]): Option {
  const at = text.indexOf('=')
  if (at !== -1) return { name: text.slice(0, at), value: { text: text.slice(at + 1), isPattern } }
  return { name: text, value: long.includes(text) ? left.shift() : undefined }
}

/** `-sSLo out`, `-oout`. */
function shortOptions(
  text: string,
  { isPattern }: Word,
  { short = '', attached = '' }: OptionRules,
  left: Word[],
): Option[] {
  const found: Option[] = []
  for (let index = 0; index < text.length; index += 1) {
    const name = text[index] ?? ''
    const rest = text.slice(index + 1)
    const value = rest === '' ? undefined : { text: rest, isPattern }
    if (short.includes(name)) return [...found, { name, value: value ?? left.shift() }]
    if (attached.includes(name)) return [...found, { name, value }]
    found.push({ name, value: undefined })
  }
  return found
}

export const valuesOf = ({ options }: SortedWords, ...names: readonly string[]): Word[] =>
  options.flatMap(({ name, value }) => (names.includes(name) && value !== undefined ? [value] : []))

export const hasOption = ({ options }: SortedWords, ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name))
