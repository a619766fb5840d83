// The questions that programs ask their terminal and what this one answers: one table, and the pattern that finds them. Pure.
import type { Palette } from './palette.ts'

/** What an answer may draw on: the terminal as it is at the question's place in the stream. */
export interface AskedQuery {
  readonly modes: { readonly keyboardFlags: number }
  readonly palette: Palette
  readonly version: string
}

interface Kinds {
  readonly csi: { readonly prefix?: string; readonly intermediates?: string; readonly final: string }
  readonly osc: number
  readonly dcs: { readonly intermediates: string; readonly final: string }
}

interface Row<K extends keyof Kinds> {
  readonly name: string
  readonly is: K
  readonly id: Kinds[K]
  /** What its parameters look like, where the same sequence with others is no question. Source of an expression. */
  readonly params?: string
  /** Without it, or where it says nothing, the emulator answers by itself. `params` is the text between id and end. */
  readonly answer?: (params: string, asked: AskedQuery) => string | undefined
}

type Query = { readonly [K in keyof Kinds]: Row<K> }[keyof Kinds]

const st = (text: string): string => `\x1b${text}\x1b\\`

export const QUERIES: readonly Query[] = [
  { name: 'DA1', is: 'csi', id: { final: 'c' }, params: '0?' },
  { name: 'DA2', is: 'csi', id: { prefix: '>', final: 'c' }, params: '0?' },
  // 5: are you well; 6: where is the cursor.
  { name: 'DSR', is: 'csi', id: { final: 'n' }, params: '[56]' },
  { name: 'DECXCPR', is: 'csi', id: { prefix: '?', final: 'n' }, params: '6' },
  { name: 'DECRQM', is: 'csi', id: { intermediates: '$', final: 'p' }, params: '\\d+' },
  {
    name: 'DECRQM of private modes',
    is: 'csi',
    id: { prefix: '?', intermediates: '$', final: 'p' },
    params: '\\d+',
    // Characters are clustered always, and viewers know no pixels; the emulator answers for all other modes.
    answer: (mode) => (mode === '2027' ? '\x1b[?2027;3$y' : mode === '1016' ? '\x1b[?1016;0$y' : undefined),
  },
  { name: 'XTWINOPS: size in characters', is: 'csi', id: { final: 't' }, params: '18' },
  { name: 'DECRQSS', is: 'dcs', id: { intermediates: '$', final: 'q' } },
  {
    name: 'XTVERSION',
    is: 'csi',
    id: { prefix: '>', final: 'q' },
    params: '0?',
    answer: (_, { version }) => st(`P>|heimdall(${version})`),
  },
  {
    name: 'kitty keyboard flags',
    is: 'csi',
    id: { prefix: '?', final: 'u' },
    params: '',
    answer: (_, { modes }) => `\x1b[?${modes.keyboardFlags}u`,
  },
  ...[4, 10, 11, 12].map((code): Query => ({
    name: code === 4 ? 'OSC 4: colour of the palette' : `OSC ${code}: colour of text, background, cursor`,
    is: 'osc',
    id: code,
    params: '[^\\x07\\x1b]{0,200}?\\?[^\\x07\\x1b]{0,200}',
    answer: (text, { palette }) => palette.answer(code, text),
  })),
  {
    // Claude Code says when and for what it waits only to a terminal that answers this.
    name: 'OSC 7501: program status',
    is: 'osc',
    id: 7501,
    params: '\\?',
    answer: (text) => (text === '?' ? st(']7501;?') : undefined),
  },
]

/** Every character by its number: none of them means anything to an expression then. */
const literal = (text: string): string =>
  Array.from(text, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

const ANY_PARAMS = '[^\\x07\\x1b]{0,200}'

function sourceOf(query: Query): string {
  const params = query.params ?? ANY_PARAMS
  switch (query.is) {
    case 'csi': {
      const { prefix = '', intermediates = '', final } = query.id
      return `\\x1b\\[${literal(prefix)}${params}${literal(intermediates)}${final}`
    }
    case 'osc':
      return `\\x1b\\]${query.id};${params}(?:\\x07|\\x1b\\\\)`
    case 'dcs':
      return `\\x1bP${literal(query.id.intermediates)}${query.id.final}${params}\\x1b\\\\`
  }
}

/** Finds every question of the table in a stream read as latin1. No part of it can run long: each repetition is bounded. */
export const QUERY = new RegExp(QUERIES.map(sourceOf).join('|'), 'g')
const finals = QUERIES.flatMap((query) => (query.is === 'csi' ? [query.id.final] : [])).join('')
const commands = QUERIES.flatMap((query) => (query.is === 'osc' ? [query.id] : [])).join('|')

/** What a question may begin with: told from a colour by its last letter, in one go. Not all that fits is one. */
export const MAY_ASK = new RegExp(`\\x1b(?:\\[[>?]?[\\d;]*\\$?[${finals}]|\\](?:${commands});|P)`)
/** The longest question, and so the most that a torn one can hold back. */
export const QUERY_BYTES_MAX = 420
