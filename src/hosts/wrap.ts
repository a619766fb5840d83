// Edits that put one server behind the shim, renew its line there, and take it out again.
import { CARRIED, foundIn, type ListUndo, missingIn, outOfFront } from './env-list.ts'
import { type ConfigText, type Edit, type ListAt, literal, type NewList, type ServerAt } from './config-text.ts'
import {
  headWords,
  launcherOf,
  type OwnCommand,
  passedNames,
  renewedWords,
  type ShimLine,
  wordsOf,
} from './shim-line.ts'

/** What stood in the places that an import changed. */
export interface Undo {
  readonly at: readonly string[]
  /** The command's literal and what it says. */
  readonly command: { readonly text: string; readonly value: string }
  /** Text of the arguments, or null where there were none. */
  readonly args: string | null
  /** The same of the list of variables, for a host that has one; and what goes out of it again. */
  readonly envList: ListUndo | null
}

export interface Wrapping {
  readonly own: OwnCommand
  /** The key of a host that hands its servers only the variables that are listed there. */
  readonly envList: string | undefined
  /** Variables that every server gets besides its own. */
  readonly passEnv: readonly string[]
}

export interface ConfigChange {
  readonly edits: readonly Edit[]
  readonly undo: Undo
}

/** The command becomes the shim's, and the line of the shim goes before the arguments, whose text stays as it is. */
export function wrapEdits({ text }: ConfigText, server: ServerAt, command: string, wrapping: Wrapping): ConfigChange {
  const { own, envList } = wrapping
  const at = server.command ?? { start: 0, end: 0 }
  const commandText = text.slice(at.start, at.end)
  const name = server.at.at(-1) ?? ''
  const words = headWords(own, name, namesFor(server, wrapping)).map(literal)
  const args = server.list('args')
  const variables = envList === undefined ? undefined : server.list(envList)
  const added = envList === undefined ? [] : missingIn(server, envList)
  const missing: NewList[] = [
    ...(args === undefined ? [{ key: 'args', items: [...words, commandText] }] : []),
    ...(envList === undefined || variables !== undefined ? [] : [{ key: envList, items: added.map(literal) }]),
  ]
  return {
    edits: [
      { ...at, text: literal(own.node) },
      ...(missing.length === 0 ? [] : [server.addLists(missing)]),
      ...(args === undefined ? [] : [inFront(text, args, [...words, commandText])]),
      ...(variables === undefined ? [] : [inFront(text, variables, added.map(literal))]),
    ],
    undo: {
      at: server.at,
      command: { text: commandText, value: command },
      args: args === undefined ? null : text.slice(args.start, args.end),
      envList: envList === undefined ? null : withAdded(foundIn({ text }, server, envList), added),
    },
  }
}

/** What was left in the list by an earlier import is ours as well, although this one did not put it there. */
const withAdded = ({ text, added }: ListUndo, more: readonly string[]): ListUndo => ({
  text,
  added: [...more, ...added],
})

export interface Renewal {
  readonly edits: readonly Edit[]
  readonly undo: Undo | undefined
}

/** Brings an imported line up to date: where the launcher lies now, what the server is called and which variables it has. */
export function renewEdits(
  { text }: ConfigText,
  server: ServerAt,
  line: ShimLine,
  known: Undo | undefined,
  wrapping: Wrapping,
): Renewal {
  const { own, envList } = wrapping
  const words = wordsOf(server.value['args']) ?? []
  const now = renewedWords(words.slice(0, line.dashes), line, own, server.at.at(-1) ?? '', namesFor(server, wrapping))
  const elements = server.list('args')?.elements ?? []
  const first = line.isByNode ? own.node : launcherOf(line, own)
  const edits = [
    ...(server.command === undefined || server.value['command'] === first
      ? []
      : [{ ...server.command, text: literal(first) }]),
    ...now.flatMap((word, index) => {
      const place = elements[index]
      return place === undefined || word === words[index] ? [] : [{ ...place, text: literal(word) }]
    }),
  ]
  const undo = known === undefined ? undefined : { ...known, at: server.at }
  const missing = envList === undefined ? [] : missingIn(server, envList)
  // Without a record nobody could tell later which of the names were ours.
  if (envList === undefined || missing.length === 0 || undo?.envList == null) return { edits, undo }
  const list = server.list(envList)
  const items = missing.map(literal)
  return {
    edits: [...edits, list === undefined ? server.addLists([{ key: envList, items }]) : inFront(text, list, items)],
    undo: { ...undo, envList: withAdded(undo.envList, missing) },
  }
}

function namesFor(server: ServerAt, { envList, passEnv }: Wrapping): string[] {
  return [...passedNames(server.value, envList), ...passEnv].filter((name) => !CARRIED.includes(name))
}

/** Takes the shim's line out. What was added behind it since stays, and so does everything around it. */
export function unwrapEdits(
  { text }: ConfigText,
  server: ServerAt,
  { dashes }: ShimLine,
  undo: Undo | undefined,
): Edit[] {
  const args = server.list('args')
  const words = wordsOf(server.value['args']) ?? []
  const place = args?.elements[dashes + 1]
  if (server.command === undefined || args === undefined || place === undefined) return []
  const isSame = undo !== undefined && undo.command.value === words[dashes + 1]
  const command = { ...server.command, text: isSame ? undo.command.text : text.slice(place.start, place.end) }
  const isAllOurs = undo?.args === null && args.elements.length === dashes + 2
  return [command, isAllOurs ? server.remove('args') : outOfFront(args, dashes + 2)]
}

/** Where the first element stands, in its own way of breaking lines. */
function inFront(text: string, list: ListAt, items: readonly string[]): Edit {
  const [first] = list.elements
  if (items.length === 0 || first === undefined)
    return { start: list.start + 1, end: list.start + 1, text: items.join(', ') }
  const gap = /\s*$/.exec(text.slice(list.start + 1, first.start))?.[0] ?? ''
  const separator = `,${gap.includes('\n') ? gap : ' '}`
  return { start: first.start, end: first.start, text: items.map((item) => item + separator).join('') }
}
