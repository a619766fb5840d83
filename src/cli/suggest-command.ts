// "Did you mean" for commands: by meaning, then by a word in another place, then by letters.
import { nearest } from '../suggest.ts'
import type { Command } from './command.ts'
import { MEANINGS } from './table/meanings.ts'

const SUGGESTIONS_MAX = 3

/** Names to offer for words that lead to no command below `path`, which is at least the launcher; the likeliest first. */
export function suggestCommands(
  commands: readonly Command[],
  path: readonly string[],
  typed: readonly string[],
): readonly string[] {
  const [bin = ''] = path
  const [word = ''] = typed
  const shown = commands.filter(({ spec }) => spec.hidden !== true)
  const nameFor = ({ spec }: Command): string => spec.names.find((name) => isBelow(name, bin)) ?? spec.names[0]
  const group = path.join(' ')
  const meant = (MEANINGS[word.toLowerCase()] ?? []).flatMap(
    (name) => shown.find(({ spec }) => spec.names[0] === name) ?? [],
  )
  const line = `heimdall ${typed.join(' ')} `
  const elsewhere = shown.filter(
    ({ spec: { names } }) => line.startsWith(`${names[0]} `) || names[0].split(' ').at(-1) === word,
  )
  const names = [...meant, ...elsewhere].map(nameFor)
  const inGroup = names.filter((name) => isBelow(name, group))
  const own = shown.flatMap(({ spec }) => spec.names.filter((name) => isBelow(name, bin)))
  const alike = nearestBelow(own, group, typed) ?? nearestBelow(own, bin, [...path.slice(1), ...typed])
  // Letters say less than a meaning in the same group, and more than one elsewhere.
  const offered = [...inGroup, ...(alike === undefined ? [] : [alike]), ...(inGroup.length > 0 ? [] : names)]
  return [...new Set(offered)].slice(0, SUGGESTIONS_MAX)
}

const isBelow = (name: string, prefix: string): boolean => name === prefix || name.startsWith(`${prefix} `)

/** The launcher and the group are right already: counted in, they would make everything look alike. */
function nearestBelow(names: readonly string[], prefix: string, typed: readonly string[]): string | undefined {
  const below = names.filter((name) => name.startsWith(`${prefix} `)).map((name) => name.slice(prefix.length + 1))
  const [word = ''] = typed
  const begun = below.filter((name) => word !== '' && name.startsWith(word))
  // The beginning of one name only: `hm a`, `hm att`.
  const close = nearest(typed.join(' '), below) ?? nearest(word, below) ?? (begun.length === 1 ? begun[0] : undefined)
  return close === undefined ? undefined : `${prefix} ${close}`
}
