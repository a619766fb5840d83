// Which entries speak of a word. Nothing here goes through all that speak of it, however many these are.
import { HeimdallError } from '../../errors.ts'
import { printable } from '../../ids.ts'
import { INDEX_COUNTED_MAX, SEARCH_ENDINGS_MAX, SEARCH_WORDS_MAX } from '../../limits.ts'
import type { Statement } from '../../storage/sqlite.ts'
import type { RunIndex } from './run-index.ts'
import { TEXT_PARTS } from './index-schema.ts'

/** The numbers of the first and the last entry that count. */
export interface IdRange {
  readonly first: number
  readonly last: number
}

const EVERYWHERE: IdRange = { first: 0, last: Math.floor(Number.MAX_SAFE_INTEGER / TEXT_PARTS) - 1 }

/** Entries that stand closer together than this are looked at in one go. */
const GAP = 256

export class Texts {
  readonly #matches: string[]
  readonly #within: Statement

  constructor(index: RunIndex, text: string) {
    this.#matches = wordsOf(text).map((word) => matchOf(index, word))
    this.#within = index.db.prepare('SELECT rowid FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?')
  }

  /** The entries that have all words, in no order; nothing where each word is in too many. */
  few(span: IdRange = EVERYWHERE): readonly number[] | undefined {
    const sets = this.#matches.map((match) => ({ match, ids: this.#idsOf(match, span, INDEX_COUNTED_MAX) }))
    const least = sets.reduce((a, b) => (b.ids.length < a.ids.length ? b : a))
    if (least.ids.length === INDEX_COUNTED_MAX) return undefined
    const others = sets.filter((set) => set !== least).map(({ match }) => match)
    return this.#having(others, [...new Set(least.ids)])
  }

  /** Those of the entries that have all words. */
  among(ids: readonly number[]): ReadonlySet<number> {
    return new Set(this.#having(this.#matches, ids))
  }

  #having(matches: readonly string[], ids: readonly number[]): readonly number[] {
    return matches.reduce((left, match) => {
      const found = new Set(spansOf(left).flatMap((span) => this.#idsOf(match, span, -1)))
      return left.filter((id) => found.has(id))
    }, ids)
  }

  /** An entry is there as often as events of it speak of the word. */
  #idsOf(match: string, { first, last }: IdRange, limit: number): number[] {
    const rows = this.#within.all(match, first * TEXT_PARTS, (last + 1) * TEXT_PARTS - 1, limit) as { rowid: number }[]
    return rows.map(({ rowid }) => Math.floor(rowid / TEXT_PARTS))
  }
}

function spansOf(ids: readonly number[]): IdRange[] {
  const spans: { first: number; last: number }[] = []
  for (const id of ids.toSorted((a, b) => a - b)) {
    const span = spans.at(-1)
    if (span !== undefined && id - span.last <= GAP) span.last = id
    else spans.push({ first: id, last: id })
  }
  return spans
}

function wordsOf(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))
  if (words.length === 0 || words.length > SEARCH_WORDS_MAX)
    throw new HeimdallError('USAGE', `a search has 1 to ${SEARCH_WORDS_MAX} words, got ${printable(text)}`)
  return words
}

/** Quoted, so that nothing of it is an operator; what a word is cut into must stand side by side. */
function matchOf(index: RunIndex, word: string): string {
  if (!/[\p{L}\p{N}]$/u.test(word)) return quoted(word)
  return (
    endingsOf(index, word)
      ?.map((whole) => quoted(whole))
      .join(' OR ') ?? `${quoted(word)}*`
  )
}

const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`

/**
 * The words that are there and begin so. FTS5 puts the entries of all of them together before it gives the first; whole words it
 * reads as far as it is asked. Nothing where they are too many, or where it is not certain how FTS5 would write the word.
 */
function endingsOf(index: RunIndex, word: string): string[] | undefined {
  // Nothing but ASCII: then a word is a run of letters and digits, in lower case.
  const last = /^[\x20-\x7e]*?([A-Za-z0-9]+)$/.exec(word)?.[1]
  if (last === undefined) return undefined
  const before = word.slice(0, -last.length)
  const beginning = last.toLowerCase()
  const next = index.db.prepare(`SELECT term FROM ${vocabularyOf(index)} WHERE term >= ? LIMIT 1`)
  const words = [word]
  for (let from = beginning; words.length <= SEARCH_ENDINGS_MAX;) {
    const term = (next.get(from) as { term: string } | undefined)?.term
    if (term?.startsWith(beginning) !== true) return words
    if (term !== beginning) words.push(before + term)
    // No word has a character below the digits in it: this is behind the word and before the next.
    from = `${term}\u0001`
  }
  return undefined
}

/** In this connection only: a reader may not change the index. */
function vocabularyOf({ db }: RunIndex): string {
  db.exec('CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, texts, instance)')
  return 'temp.vocabulary'
}
