// The words behind a program, told apart: options, their values, and the rest, by the program's own rules.
import type { Word } from './word.ts'

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
  /** With two of them. */
  readonly isLong: boolean
  /** It may be no more than the beginning of a name. */
  readonly isPart: boolean
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
  const name = at === -1 ? text : text.slice(0, at)
  const isPart = !long.includes(name)
  if (at !== -1) return { name, isLong: true, isPart, value: { text: text.slice(at + 1), isPattern } }
  const takesValue = !isPart || long.some((one) => isShortFor(name, one))
  return { name, isLong: true, isPart, value: takesValue ? left.shift() : undefined }
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
    if (short.includes(name)) return [...found, { name, isLong: false, isPart: false, value: value ?? left.shift() }]
    if (attached.includes(name)) return [...found, { name, isLong: false, isPart: false, value }]
    found.push({ name, isLong: false, isPart: false, value: undefined })
  }
  return found
}

/** Git and the programs of GNU take the beginning of a name for the name. Where it is that of several they stop, so nothing is lost by taking it for any of them. */
const isShortFor = (text: string, name: string): boolean =>
  text.length > 1 && text !== 'no' && text !== 'no-' && name.startsWith(text)

const isCalled = ({ name, isPart }: Option, names: readonly string[]): boolean =>
  names.includes(name) || (isPart && names.some((one) => isShortFor(name, one)))

export const optionsOf = ({ options }: SortedWords, ...names: readonly string[]): Option[] =>
  options.filter((option) => isCalled(option, names))

export const valuesOf = (sorted: SortedWords, ...names: readonly string[]): Word[] =>
  optionsOf(sorted, ...names).flatMap(({ value }) => value ?? [])

export const hasOption = (sorted: SortedWords, ...names: readonly string[]): boolean =>
  optionsOf(sorted, ...names).length > 0

/** As it was written, as far as that matters. */
export const optionText = ({ name, isLong }: Option): string => `${isLong ? '--' : '-'}${name}`
