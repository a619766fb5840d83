// The coordination store on SQLite: one database per repository, each change one IMMEDIATE transaction with its entry in it.
import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { STORE_MAKING_MS } from '../../limits.ts'
import { linkError, onDisk } from '../../storage/faults.ts'
import { type Database, openDatabase } from '../../storage/sqlite.ts'
import type { Annex } from '../annex.ts'
import type { Author } from '../log-entry.ts'
import { FLEET_SETTING } from '../membership.ts'
import type { Store, Writer } from '../store.ts'
import { CommitWatch } from './commit-watch.ts'
import { appendEntry, entriesAfter, tablesSince } from './entries.ts'
import { EntryDraft } from './entry-draft.ts'
import { followEntries } from './follow.ts'
import { createLocalAnnex } from './local-annex.ts'
import { KeptReads } from './kept-reads.ts'
import { createReader, headOf } from './reading.ts'
import { MIGRATIONS } from './schema.ts'
import type { Member, MemberOptions } from './member.ts'
import { Statements } from './statements.ts'
import { createWriter } from './writing.ts'

export interface WritableOptions {
  readonly clock: Clock
  /** Of entries. */
  readonly newId: () => string
  /** For a store that belongs to a fleet. Without it such a store is read and never changed. */
  readonly member?: MemberOptions | undefined
  /** How long to wait for somebody else's transaction, where that is less than usual. */
  readonly busyMs?: number | undefined
}

export interface ReadOnlyOptions {
  readonly clock: Clock
  readonly readOnly: true
}

const NOWHERE: Omit<Author, 'haid'> = { sessionId: null, runId: null }

/** Opens or makes the store. With `readOnly` the answer is nothing when there is no store yet: then nobody holds anything. */
export function openSqliteStore(path: string, options: WritableOptions): Store
export function openSqliteStore(path: string, options: ReadOnlyOptions): Store | undefined
export function openSqliteStore(path: string, options: WritableOptions | ReadOnlyOptions): Store | undefined {
  const isReadOnly = 'readOnly' in options
  const isThere = isStoreThere(path)
  if (isReadOnly && !isThere) return undefined
  if (isThere) refuseEmptied(path)
  const db = isReadOnly ? openToRead(path) : openDatabase(path, { migrations: MIGRATIONS, ...busyOf(options) })
  const opened = fileAt(path)
  // Whatever is done in a file that has left its place, nobody else would ever see.
  const refuseReplaced = (): void => {
    if (fileAt(path) !== opened) throw replaced(path)
  }
  const refuseOther = (): void => {
    refuseReplaced()
    db.refuseNewer()
  }
  const sql = new Statements(db)
  const reader = createReader(sql)
  // Prepared once: the driver parses the text of `exec` on every call, which is a fifth of a short read.
  const begin = db.prepare('BEGIN')
  const commit = db.prepare('COMMIT')
  const dataVersion = db.prepare('PRAGMA data_version')
  const kept = new KeptReads({
    rows: reader,
    // Deferred: all reads of the transaction see the state of the first one.
    begin() {
      db.refuseNewer()
      begin.run()
    },
    commit: () => void commit.run(),
    version: () => (dataVersion.get() as { data_version: number }).data_version,
    tablesSince(seq) {
      db.refuseNewer()
      return tablesSince(sql, seq)
    },
  })
  let draft = new EntryDraft()
  const writer = createWriter(sql, reader, () => draft)
  const run = <T>(act: (rows: Writer) => T): { result: T; draft: EntryDraft } => {
    draft = new EntryDraft()
    return { result: act(writer), draft }
  }
  /** Nothing when the store belongs to a fleet, and nothing was done. */
  const decide = <T>(
    act: (rows: Writer) => T,
    by: Omit<Author, 'haid'>,
  ): { result: T; seq: number | undefined } | undefined =>
    db.transaction(() => {
      // Under the lock: another process may have joined one since the last change.
      if (reader.localSetting(FLEET_SETTING) !== undefined) return undefined
      const { result, draft } = run(act)
      if (draft.isEmpty || isReadOnly) return { result, seq: undefined }
      const { clock, newId } = options
      return { result, seq: appendEntry(sql, draft, { id: newId(), wallMs: clock.wallMs(), by }) }
    })
  const head = (): number => {
    refuseOther()
    return headOf(sql)
  }
  const commits = new CommitWatch({ path, clock: options.clock, head })
  let isOpen = true
  let joined: Member | undefined
  const member = async (): Promise<Member> => {
    if (isReadOnly || options.member === undefined) throw notForMembers(path)
    const { clock, newId, member: more } = options
    const changed = (): void => {
      kept.forget()
      if (commits.isHeard) commits.announce(headOf(sql))
    }
    // Loaded where it is needed: a check of a machine alone must not read it.
    const { Member: Made } = await import('./member.ts')
    joined ??= new Made({ ...more, path, db, sql, newId, wallMs: () => clock.wallMs(), run, changed })
    return joined
  }
  const belongsToFleet = (): boolean => kept.read((rows) => rows.localSetting(FLEET_SETTING)) !== undefined
  const here = createLocalAnnex(db, sql, () => options.clock.wallMs())
  const annex = async (): Promise<Annex> => (belongsToFleet() ? await (await member()).annex() : here)
  return {
    async change(act, by = NOWHERE) {
      refuseReplaced()
      try {
        for (;;) {
          // A member is asked first: that it still is one, it sees under the lock that it takes anyway.
          const made = joined === undefined ? undefined : await joined.change(act, by)
          if (made !== undefined) return made.result
          const decided = decide(act, by)
          if (decided !== undefined) {
            if (decided.seq !== undefined) commits.announce(decided.seq)
            return decided.result
          }
          await member()
        }
      } finally {
        kept.forget()
      }
    },
    read: (act) => kept.read(act),
    mark: () => kept.mark(),
    follow: (afterSeq, signal) =>
      followEntries(
        {
          after(seq, limit) {
            if (!isOpen) return undefined
            refuseOther()
            return entriesAfter(sql, seq, limit)
          },
          listen: (onCommit) => commits.listen(onCommit),
        },
        afterSeq,
        signal,
      ),
    async link(signal, onFailure) {
      try {
        if (belongsToFleet()) await (await member()).link(signal, onFailure)
      } catch (error) {
        // Closed before it could follow: there is nobody to tell.
        if (!isOpen) return
        // Most of those who link go on without waiting for it: a store that is locked or newer by now must not end them.
        if (!(error instanceof HeimdallError)) throw error
        onFailure?.(error)
      }
    },
    async catchUp() {
      if (belongsToFleet()) await (await member()).catchUp()
    },
    annex: {
      lay: async (name, text) => (await annex()).lay(name, text),
      fetch: async (name, bytesMax) => (await annex()).fetch(name, bytesMax),
      list: async () => (await annex()).list(),
      clear: async (names) => (await annex()).clear(names),
    },
    close() {
      if (!isOpen) return
      isOpen = false
      void joined?.close()
      commits.close()
      db.close()
    },
  }
}

/**
 * A store that may not be looked for is not the same as none: whoever cannot see it must not be told that nobody holds
 * anything. A link, wherever it leads, is refused by those who read as by those who write.
 */
export function isStoreThere(path: string): boolean {
  const stats = onDisk(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (stats?.isSymbolicLink() === true) throw linkError(path, 'a symbolic link')
  return stats !== undefined
}

/**
 * SQLite takes an empty file for a new database. Beside the keys of agents it is what is left of a store, unless
 * somebody is making a new one at this moment: that gets its first page within moments.
 */
function refuseEmptied(path: string): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let leftMs = STORE_MAKING_MS; isEmptied(path); leftMs -= 5) {
    if (leftMs <= 0)
      throw new HeimdallError('STORE_CORRUPT', `${path} is empty, and keys of its agents are there`, {
        hint: 'put back a copy, or move it aside and run the command again; exports beside the project are untouched',
      })
    Atomics.wait(cell, 0, 0, 5)
  }
}

function isEmptied(path: string): boolean {
  return (
    onDisk(path, () => statSync(path, { throwIfNoEntry: false })?.size) === 0 && existsSync(join(dirname(path), 'keys'))
  )
}

/** Which file it is. As long as it is open, no other gets its number. */
function fileAt(path: string): string | undefined {
  const stats = onDisk(path, () => statSync(path, { throwIfNoEntry: false }))
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}

function replaced(path: string): HeimdallError {
  return new HeimdallError('STORE_REPLACED', `${path} was removed or replaced while it was in use`, {
    hint: 'run the command again',
  })
}

function notForMembers(path: string): HeimdallError {
  return new HeimdallError('FLEET_NOT_JOINED', `${path} belongs to a fleet, and was opened without it`, {
    hint: 'heimdall fleet status says which',
  })
}

const busyOf = ({ busyMs }: WritableOptions): { busyMs?: number } => (busyMs === undefined ? {} : { busyMs })

/** A store that an older version left behind, or a crash right after its making, has to be migrated before it can be read. */
function openToRead(path: string): Database {
  const db = openDatabase(path, { migrations: MIGRATIONS, readOnly: true })
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  if (version === MIGRATIONS.length) return db
  db.close()
  openDatabase(path, { migrations: MIGRATIONS }).close()
  return openDatabase(path, { migrations: MIGRATIONS, readOnly: true })
}
