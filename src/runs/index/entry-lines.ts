// What entries say in full: their lines, read from the records at the places that the index knows.
import fs from 'node:fs'
import { isErrno } from '../../errors.ts'
import { parseObject } from '../recorded-event.ts'
import type { IndexEntry, RecordPlace } from './search.ts'

/** An event as it stands in the record. */
export type EventObject = Readonly<Record<string, unknown>>

/** The events of an entry; nothing where the record is gone or another one has taken its place. */
export interface EntryEvents {
  readonly first: EventObject | undefined
  readonly decision: EventObject | undefined
  readonly end: EventObject | undefined
}

/** Keeps the record open that was read last: entries of one run mostly come together. */
export class EntryLines {
  readonly #pathOf: (record: string) => string
  #open: { readonly record: string; readonly fd: number | undefined } | undefined

  constructor(pathOf: (record: string) => string) {
    this.#pathOf = pathOf
  }

  eventsOf(entry: IndexEntry): EntryEvents {
    return {
      first: this.#event(entry, entry.first),
      decision: this.#event(entry, entry.decided),
      end: this.#event(entry, entry.ended),
    }
  }

  /** In the order in which they were written. */
  linesOf(entry: IndexEntry): string[] {
    return [entry.first, entry.decided, entry.ended].flatMap((place) => this.#line(entry, place) ?? [])
  }

  close(): void {
    if (this.#open?.fd !== undefined) fs.closeSync(this.#open.fd)
    this.#open = undefined
  }

  #event(entry: IndexEntry, place: RecordPlace | null): EventObject | undefined {
    const line = this.#line(entry, place)
    return line === undefined ? undefined : (parseObject(line) as EventObject | undefined)
  }

  #line({ record, runId }: IndexEntry, place: RecordPlace | null): string | undefined {
    const fd = place === null ? undefined : this.#fdOf(record)
    if (place === null || fd === undefined) return undefined
    const bytes = Buffer.alloc(place.bytes)
    const text = bytes.toString('utf8', 0, fs.readSync(fd, bytes, 0, place.bytes, place.at))
    // A record that was replaced since it was indexed has something else there.
    const event = parseObject(text) as EventObject | undefined
    return event !== undefined && (event['run_id'] === undefined || event['run_id'] === runId) ? text : undefined
  }

  #fdOf(record: string): number | undefined {
    if (this.#open?.record !== record) {
      this.close()
      this.#open = { record, fd: openIfThere(this.#pathOf(record)) }
    }
    return this.#open.fd
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
