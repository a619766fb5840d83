// Windows of errors and of calls with the same arguments, packed: a busy agent leaves tens of thousands, and objects for them would keep the collector busy.
import { canonicalHash } from '../../canonical/canonical.ts'
import { POLICY_WINDOWS_MAX } from '../../limits.ts'
import type { Cell } from '../types.ts'

/** Half of a SHA-256 tells arguments apart as surely as anybody needs. */
const HASH_WORDS = 4
const WORDS = HASH_WORDS + 1
const HASH_CHARS = 64
/** Of a window that is not about arguments. */
const NO_HASH = '0'.repeat(HASH_CHARS)

/** Kept in two generations: when the younger is full the older is dropped whole, which costs nothing for each entry. */
export class Windows {
  /** Numbers of the keys that have entries, kept as long as these: a key holds the name of a tool, and an agent can make up many. */
  #ids = new Map<string, number>()
  #oldIds = new Map<string, number>()
  #lastId = 0
  readonly #sought = new Uint32Array(WORDS)
  #key = ''
  #args = ''
  /** Where what was sought last stands in each generation, -1 where it does not. */
  #inYoung = -1
  #inOld = -1
  #young = new Generation()
  #old = new Generation()

  get(key: string, args: string): Cell | undefined {
    this.#seek(key, args)
    if (this.#inYoung >= 0) return this.#young.cell(this.#inYoung)
    return this.#inOld >= 0 ? this.#old.cell(this.#inOld) : undefined
  }

  /** Null forgets. */
  set(key: string, args: string, cell: Cell | null): void {
    this.#seek(key, args)
    if (this.#inYoung < 0) {
      if (cell === null && this.#inOld < 0) return
      if (this.#young.size >= POLICY_WINDOWS_MAX) {
        this.#old = this.#young
        this.#young = new Generation()
        this.#oldIds = this.#ids
        this.#ids = new Map()
      }
      this.#inYoung = this.#young.add(this.#sought)
      this.#ids.set(key, this.#sought[0] as number)
    }
    this.#young.put(this.#inYoung, cell)
  }

  /** Which counter, and the beginning of the hash. */
  #seek(key: string, args: string): void {
    // What is written is what was just read.
    if (key === this.#key && args === this.#args) return
    this.#key = key
    this.#args = args
    // One that has no entry yet gets a number that nobody else has had; it keeps it with its first entry.
    const id = this.#ids.get(key) ?? this.#oldIds.get(key) ?? (this.#lastId += 1)
    const hash = args === '' ? NO_HASH : args.length === HASH_CHARS ? args : canonicalHash(JSON.stringify(args))
    this.#sought[0] = id
    for (let word = 0; word < HASH_WORDS; word += 1) {
      let value = 0
      for (let at = word * 8; at < word * 8 + 8; at += 1) {
        const code = hash.charCodeAt(at)
        value = (value << 4) | (code <= 0x39 ? code - 0x30 : code - 0x57)
      }
      this.#sought[word + 1] = value
    }
    this.#inYoung = this.#young.find(this.#sought)
    this.#inOld = this.#inYoung < 0 ? this.#old.find(this.#sought) : -1
  }
}

/** What an entry holds instead of its one time. */
const NOTHING = Number.NaN
const SEVERAL = Infinity

/** An open hash table over entries that stand in the order in which they came. */
class Generation {
  size = 0
  #room = 256
  /** Number of the entry plus one, 0 where there is none; twice as many places as entries. */
  #places = new Uint32Array(2 * 256)
  #words = new Uint32Array(256 * WORDS)
  #times = new Float64Array(256)
  readonly #several = new Map<number, Cell>()

  /** The number of the entry, or -1. */
  find(sought: Uint32Array): number {
    const mask = this.#places.length - 1
    for (let place = placeOf(sought, 0) & mask; ; place = (place + 1) & mask) {
      const entry = (this.#places[place] as number) - 1
      if (entry < 0 || this.#isAt(entry, sought)) return entry
    }
  }

  #isAt(entry: number, sought: Uint32Array): boolean {
    const from = entry * WORDS
    for (let i = 0; i < WORDS; i += 1) if (this.#words[from + i] !== sought[i]) return false
    return true
  }

  /** To be called with what `find` has not found. */
  add(sought: Uint32Array): number {
    if (this.size === this.#room) this.#grow()
    const entry = this.size++
    this.#words.set(sought, entry * WORDS)
    this.#place(entry)
    return entry
  }

  cell(entry: number): Cell | undefined {
    const time = this.#times[entry] as number
    if (Number.isNaN(time)) return undefined
    return time === SEVERAL ? this.#several.get(entry) : [time]
  }

  put(entry: number, cell: Cell | null): void {
    const count = cell?.length ?? 0
    if (this.#times[entry] === SEVERAL) this.#several.delete(entry)
    this.#times[entry] = count === 0 ? NOTHING : count === 1 ? (cell?.[0] as number) : SEVERAL
    if (cell !== null && count > 1) this.#several.set(entry, cell)
  }

  #place(entry: number): void {
    const mask = this.#places.length - 1
    let place = placeOf(this.#words, entry * WORDS) & mask
    while (this.#places[place] !== 0) place = (place + 1) & mask
    this.#places[place] = entry + 1
  }

  #grow(): void {
    this.#room *= 2
    const words = new Uint32Array(this.#room * WORDS)
    words.set(this.#words)
    this.#words = words
    const times = new Float64Array(this.#room)
    times.set(this.#times)
    this.#times = times
    this.#places = new Uint32Array(2 * this.#room)
    for (let entry = 0; entry < this.size; entry += 1) this.#place(entry)
  }
}

/** Where to look first; the hash is random enough, and the counter's number keeps its rules apart. */
function placeOf(words: Uint32Array, from: number): number {
  return (words[from + 1] as number) ^ Math.imul(words[from] as number, 0x9e3779b1)
}
