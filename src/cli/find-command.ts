// Finds the command that a command line names: the longest name that it begins with, with global flags before or between its words.
import type { Command } from './command.ts'
import { globalFlagWords } from './parse.ts'

export interface FoundCommand {
  readonly command: Command
  readonly calledAs: string
  /** Global flags that stood before the name, then all that followed it. */
  readonly rest: readonly string[]
}

/** A command line that names no command. */
export interface NotFound {
  /** Words that are the beginning of names: `heimdall`, `heimdall claim`. */
  readonly path: readonly string[]
  readonly globals: readonly string[]
  /** From the first word that leads to no command. */
  readonly rest: readonly string[]
}

export function findCommand(
  commands: readonly Command[],
  bin: string,
  words: readonly string[],
): { readonly found: FoundCommand } | { readonly found: undefined; readonly lost: NotFound } {
  const names = commands.flatMap((command) =>
    command.spec.names.map((name) => ({ command, name, words: name.split(' ') })),
  )
  const path = [bin]
  const globals: string[] = []
  let found: FoundCommand | undefined
  let at = 0
  for (;;) {
    const name = path.join(' ')
    const match = names.find((one) => one.name === name)
    if (match !== undefined) found = { command: match.command, calledAs: name, rest: [...globals, ...words.slice(at)] }
    for (let count = globalFlagWords(words, at); count > 0; count = globalFlagWords(words, at)) {
      globals.push(...words.slice(at, at + count))
      at += count
    }
    const typed = words[at]
    const next = [typed, SHORT_VERBS[typed ?? '']].find(
      (word) => word !== undefined && names.some((one) => isPrefix([...path, word], one.words)),
    )
    if (next === undefined) break
    path.push(next)
    at += 1
  }
  return found === undefined ? { found, lost: { path, globals, rest: words.slice(at) } } : { found }
}

/** Understood wherever there is no command of that name. */
const SHORT_VERBS: Readonly<Record<string, string>> = { ls: 'list', rm: 'remove' }

function isPrefix(words: readonly string[], of: readonly string[]): boolean {
  return words.every((word, i) => of[i] === word)
}
