// Opening databases: migrations, versions, corruption, locks, transactions that fail, and processes that make one together.
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SQLITE_TRY_MS } from '../../src/limits.ts'
import { type Database, openDatabase } from '../../src/storage/sqlite.ts'
import { releaseTogether } from '../support/barrier.ts'
import { fixture, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'

const migrations = ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)']
const dbPath = (): string => join(temporaryFolder(), 'below/store.db')
const failsWith = (code: string) => expect.objectContaining({ code })
const texts = (db: Database): unknown[] =>
  (db.prepare('SELECT text FROM notes ORDER BY id').all() as { text: string }[]).map(({ text }) => text)

/** All of the database in its one file, as after a quiet time: what is still in the log would hide damage. */
const settle = (db: Database): void => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')

/** Lets a test use a database and closes it, also when the test fails. */
function using<T>(path: string, steps: readonly string[], act: (db: Database) => T, busyMs?: number): T {
  const db = openDatabase(path, { migrations: steps, ...(busyMs === undefined ? {} : { busyMs }) })
  try {
    return act(db)
  } finally {
    db.close()
  }
}

test('a new database is private, in WAL mode, flushed at each commit, with foreign keys', () => {
  const path = dbPath()
  using(path, migrations, (db) => {
    const pragma = (name: string): unknown => Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0]
    expect(['journal_mode', 'synchronous', 'foreign_keys', 'user_version'].map(pragma)).toEqual(['wal', 2, 1, 1])
    expect([path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777)).toEqual([
      0o600, 0o600, 0o600,
    ])
    expect(db.problems()).toEqual([])
  })
})

test('migrations run once, in order, and only those that are missing', () => {
  const path = dbPath()
  using(path, migrations, (db) => db.prepare('INSERT INTO notes (text) VALUES (?)').run('kept'))
  const more = [...migrations, 'ALTER TABLE notes ADD COLUMN mood TEXT', "UPDATE notes SET mood = 'new'"]
  using(path, more, (db) => {
    expect(db.prepare('SELECT text, mood FROM notes').all()).toEqual([{ text: 'kept', mood: 'new' }])
    db.prepare('UPDATE notes SET mood = ?').run('changed')
  })
  using(path, more, (db) => expect(db.prepare('SELECT mood FROM notes').get()).toEqual({ mood: 'changed' }))
})

test('a migration that fails leaves the version before it', () => {
  const path = dbPath()
  using(path, migrations, () => undefined)
  expect(() => openDatabase(path, { migrations: [...migrations, 'CREATE TABLE more (a)', 'not SQL at all'] })).toThrow(
    /syntax/,
  )
  using(path, migrations, (db) => {
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'more'").all()).toEqual([])
  })
})

test('what a newer version wrote is refused and not touched', () => {
  const path = dbPath()
  using(path, [...migrations, 'CREATE TABLE future (a)'], settle)
  const before = readFileSync(path)
  expect(() => openDatabase(path, { migrations })).toThrow(failsWith('STORE_NEWER'))
  expect(() => openDatabase(path, { migrations, readOnly: true })).toThrow(failsWith('STORE_NEWER'))
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a statement whose table a newer version has dropped says so, also when nobody asked for the version', () => {
  const path = join(temporaryFolder(), 'store.db')
  const db = openDatabase(path, { migrations: ['CREATE TABLE t (n INTEGER)'] })
  const read = db.prepare('SELECT n FROM t')
  openDatabase(path, { migrations: ['', 'DROP TABLE t'] }).close()
  expect(() => read.all()).toThrow(failsWith('STORE_NEWER'))
  expect(() => db.prepare('SELECT n FROM t')).toThrow(failsWith('STORE_NEWER'))
  expect(() => db.prepare('SELECT n FROM nothing')).toThrow(failsWith('STORE_NEWER'))
  db.close()
})

test.each<[string, (path: string) => void]>([
  ['some other file', (path) => writeFileSync(path, 'This is a letter to my grandmother, not a database. '.repeat(50))],
  ['a database whose header was overwritten', (path) => patch(path, 0, 100)],
  ['a database whose first page was overwritten', (path) => patch(path, 100, 3_000)],
])('corrupt: %s is refused and kept', (_, damage) => {
  const path = dbPath()
  using(path, migrations, settle)
  damage(path)
  const before = readFileSync(path)
  expect(() => openDatabase(path, { migrations: [...migrations, 'CREATE TABLE more (a)'] })).toThrow(
    failsWith('STORE_CORRUPT'),
  )
  expect(readFileSync(path).equals(before)).toBe(true)
})

test('corruption behind an intact first page is found by the check, and reported when it is met', () => {
  const path = dbPath()
  using(path, migrations, (db) => {
    db.transaction(() => {
      const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
      for (let n = 0; n < 2_000; n += 1) insert.run(`${n} ${'x'.repeat(100)}`)
    })
    settle(db)
  })
  patch(path, 4_096 * 3, statSync(path).size - 4_096 * 3)
  using(path, migrations, (db) => {
    expect(db.problems().length).toBeGreaterThan(0)
    expect(() => texts(db)).toThrow(failsWith('STORE_CORRUPT'))
    expect(() => db.transaction(() => db.prepare('DELETE FROM notes').run())).toThrow(failsWith('STORE_CORRUPT'))
  })
})

function patch(path: string, from: number, length: number): void {
  const bytes = readFileSync(path)
  bytes.fill(0xa5, from, from + length)
  writeFileSync(path, bytes)
}

test('a database cut short is refused or found by the check, never used as if whole', () => {
  const path = dbPath()
  using(path, migrations, (db) => {
    db.transaction(() => {
      const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
      for (let n = 0; n < 200; n += 1) insert.run(`${n} ${'x'.repeat(100)}`)
    })
    settle(db)
  })
  truncateSync(path, 4_096 * 2)
  expect(() => using(path, migrations, (db) => texts(db))).toThrow(failsWith('STORE_CORRUPT'))
})

test('read-only: reads, refuses to write, and does not make a missing database', () => {
  const path = dbPath()
  expect(() => openDatabase(path, { migrations, readOnly: true })).toThrow(failsWith('STORE_UNREADABLE'))
  using(path, migrations, (db) => db.prepare('INSERT INTO notes (text) VALUES (?)').run('a'))
  const db = openDatabase(path, { migrations, readOnly: true })
  expect(texts(db)).toEqual(['a'])
  expect(() => db.prepare('DELETE FROM notes').run()).toThrow(failsWith('STORE_UNREADABLE'))
  db.close()
})

test('a transaction that throws leaves nothing behind and the next one works', () => {
  using(dbPath(), migrations, (db) => {
    const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
    const failing = (): void =>
      db.transaction(() => {
        insert.run('gone')
        throw new Error('changed my mind')
      })
    expect(failing).toThrow('changed my mind')
    expect(() => db.transaction(() => [insert.run('twice'), insert.run('twice')])).toThrow(/UNIQUE/)
    expect(db.transaction(() => insert.run('kept').changes)).toBe(1)
    expect(texts(db)).toEqual(['kept'])
  })
})

test('a transaction that SQLite has rolled back by itself reports the first error', () => {
  using(dbPath(), migrations, (db) => {
    const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
    insert.run('taken')
    db.exec(
      "CREATE TEMP TRIGGER stop BEFORE INSERT ON main.notes WHEN new.text = 'bomb' BEGIN SELECT RAISE(ROLLBACK, 'bomb'); END",
    )
    expect(() => db.transaction(() => insert.run('bomb'))).toThrow('bomb')
    expect(db.transaction(() => insert.run('after').changes)).toBe(1)
    expect(texts(db)).toEqual(['taken', 'after'])
  })
})

test('a transaction given an async function is refused instead of committing too early', () => {
  using(dbPath(), migrations, (db) => {
    const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
    expect(() => db.transaction(async () => insert.run('early'))).toThrow(failsWith('INTERNAL'))
    expect(texts(db)).toEqual([])
  })
})

test('no room left: the transaction is refused as a whole, and works again when there is room', () => {
  using(dbPath(), migrations, (db) => {
    const insert = db.prepare('INSERT INTO notes (text) VALUES (?)')
    db.exec('PRAGMA max_page_count = 10')
    const fill = (): void =>
      db.transaction(() => {
        for (let n = 0; n < 100; n += 1) insert.run(`${n} ${'x'.repeat(1_000)}`)
      })
    expect(fill).toThrow(failsWith('STORE_FULL'))
    expect(texts(db)).toEqual([])
    db.exec('PRAGMA max_page_count = 10000')
    fill()
    expect(texts(db)).toHaveLength(100)
  })
})

test('a writer waits for another one, and gives up with STORE_BUSY in the end', () => {
  const path = dbPath()
  const waits = (waiter: Database, holder: Database): void => {
    holder.exec('BEGIN IMMEDIATE')
    expect(() => waiter.transaction(() => undefined)).toThrow(failsWith('STORE_BUSY'))
    // Readers are not kept waiting.
    expect(texts(waiter)).toEqual([])
    holder.exec('COMMIT')
    expect(waiter.transaction(() => 'free')).toBe('free')
  }
  // Also longer than SQLite waits by itself.
  for (const busyMs of [30, 3 * SQLITE_TRY_MS])
    using(path, migrations, (holder) => using(path, migrations, (waiter) => waits(waiter, holder), busyMs))
})

test('a store in which others get on is waited for, as long as a queue may be', async () => {
  const path = dbPath()
  using(path, migrations, () => undefined)
  const others = startProgram([...fixture('storage-busy-writer'), path, '60', '25'])
  await others.waitForLine('holding')
  const db = openDatabase(path, { migrations, busyMs: 1_000, queueMs: 60_000 })
  try {
    db.transaction(() => db.prepare('INSERT INTO notes (text) VALUES (?)').run('mine'))
    expect(texts(db)).toContain('mine')
  } finally {
    db.close()
  }
})

test('the change to WAL mode waits for a writer too, which SQLite itself does not', async () => {
  const path = join(temporaryFolder(), 'store.db')
  const holder = startProgram([...fixture('storage-rollback-holder'), path])
  await holder.waitForLine('holding')
  using(path, migrations, (db) => expect(db.prepare('SELECT a FROM held').all()).toEqual([{ a: 1 }]))
})

test('processes that make the same database at once all succeed', async () => {
  for (let round = 0; round < scaled(3, 20); round += 1) {
    const path = dbPath()
    const programs = Array.from({ length: 12 }, () => startProgram([...fixture('storage-opener'), path]))
    await releaseTogether(programs)
    const endings = await Promise.all(programs.map(({ ended }) => ended))
    expect(endings.map(({ stderr }) => stderr).join('')).toBe('')
    using(path, ['', ''], (db) => expect(db.prepare('SELECT count(*) AS n FROM opened').get()).toEqual({ n: 12 }))
  }
})
