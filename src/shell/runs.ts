// Patterns over what a command line runs: `git push --force`, `rm -rf *`, in any order, bundle and spelling of flags.
import { usesNetwork } from './known-programs.ts'
import { type Option, optionsOf, type SortedWords, sortWords } from './options.ts'
import { parseShell } from './parse.ts'
import { RULES } from './programs.ts'
import type { Word } from './word.ts'
import type { ShellRun } from './writes.ts'

export interface RunPattern {
  readonly name: string
  /** Sub-commands and operands, in order; what follows them is free. */
  readonly operands: readonly RegExp[]
  readonly options: readonly Option[]
}

/** Or why it is none. */
export function compileRunPattern(text: string): RunPattern | string {
  const { commands, isComplete } = parseShell(text)
  const [command, ...more] = commands
  if (!isComplete || command === undefined || more.length > 0) return 'must be one command, such as "git push --force"'
  if (command.redirections.length > 0 || command.words.some(({ text }) => text === null))
    return 'must have no redirections and no variables'
  const [program, ...words] = command.words.map(({ text }) => text ?? '')
  const name = program?.split('/').at(-1) ?? ''
  if (name === '') return 'must name a program'
  const sorted = sortWords(words.map(literal), rulesOf(name, words[0]))
  const operands = sorted.plain.map(({ text }) => text ?? '')
  return {
    name,
    operands: (operands.at(-1) === '*' ? operands.slice(0, -1) : operands).map(wildcard),
    options: sorted.options,
  }
}

const literal = (text: string): Word => ({ text, isPattern: false })

const wildcard = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '[^]*')
      .replaceAll('?', '[^]')}$`,
  )

/** Options of git's commands and others that take values, where that decides what is an operand. */
const VERB_RULES = {
  'git push': { short: 'o', long: ['repo', 'push-option', 'receive-pack', 'exec'] },
  'git clean': { short: 'e', long: ['exclude'] },
  'git commit': { short: 'mFCct', long: ['message', 'file', 'author', 'date', 'fixup', 'squash', 'template'] },
} as const

const rulesOf = (name: string, verb: string | undefined) =>
  (VERB_RULES as Readonly<Record<string, (typeof RULES)[string]>>)[`${name} ${verb ?? ''}`] ?? RULES[name] ?? {}

/** Spellings of one option. What is not here has one letter or one name. */
const SAME: Readonly<Record<string, readonly (readonly string[])[]>> = {
  rm: [
    ['r', 'R', 'recursive'],
    ['f', 'force'],
    ['d', 'dir'],
    ['i', 'interactive'],
  ],
  cp: [
    ['r', 'R', 'a', 'recursive', 'archive'],
    ['f', 'force'],
  ],
  mv: [['f', 'force']],
  chmod: [['R', 'recursive']],
  chown: [['R', 'recursive']],
  chgrp: [['R', 'recursive']],
  'git push': [
    ['f', 'force', 'force-with-lease', 'force-if-includes', 'mirror'],
    ['d', 'delete'],
    ['n', 'dry-run'],
  ],
  'git clean': [
    ['f', 'force'],
    ['n', 'dry-run'],
  ],
  'git branch': [
    ['D', 'd', 'delete'],
    ['f', 'force'],
  ],
  'git checkout': [['f', 'force']],
  'git switch': [['f', 'force', 'discard-changes']],
  'git commit': [
    ['n', 'no-verify'],
    ['a', 'all'],
  ],
  'git tag': [
    ['f', 'force'],
    ['d', 'delete'],
  ],
  curl: [
    ['o', 'output'],
    ['X', 'request'],
    ['d', 'data', 'data-raw', 'data-binary', 'data-urlencode'],
  ],
}

/** Whether the pattern matches; `maybe` where it depends on words that only the shell knows. */
export function matchesRun({ name, operands, options }: RunPattern, run: ShellRun): boolean | 'maybe' {
  if (run.wrappers.includes(name) && operands.length + options.length === 0) return true
  if (run.name !== name) return false
  const verb = run.words[1]?.text ?? undefined
  const sorted = sortWords(run.words.slice(1), rulesOf(name, verb))
  const isSplit = run.words.slice(1).some(({ text, isSplit: splits }) => text === null && splits === true)
  const isMet =
    hasOperands(operands, sorted.plain) && options.every((option) => hasSpelling(option, name, verb, sorted))
  return isMet || (isSplit && 'maybe')
}

function hasOperands(operands: readonly RegExp[], plain: readonly Word[]): boolean {
  return operands.every((pattern, index) => {
    const text = plain[index]?.text
    return text != null && pattern.test(text)
  })
}

function hasSpelling(wanted: Option, name: string, verb: string | undefined, sorted: SortedWords): boolean {
  const same = SAME[`${name} ${verb ?? ''}`] ?? SAME[name] ?? []
  const names = same.find((one) => one.includes(wanted.name)) ?? [wanted.name]
  // A refspec with a plus is a force push of that ref.
  if (
    name === 'git' &&
    verb === 'push' &&
    names.includes('force') &&
    sorted.plain.some(({ text, head }) => (text ?? head)?.startsWith('+'))
  )
    return true
  return optionsOf(sorted, ...names).some(({ value }) => {
    const text = wanted.value?.text
    return text == null || (value?.text != null && wildcard(text).test(value.text))
  })
}

export const isOnNetwork = ({ name, words, wrappers }: ShellRun): boolean =>
  wrappers.some((one) => usesNetwork(one, [])) ||
  usesNetwork(
    name,
    words.slice(1).map(({ text }) => text),
  )
