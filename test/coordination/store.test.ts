// The SQLite store: the conformance suite, and what is its own (append-only by trigger, opening to read).
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from '../../src/coordination/schema.ts'
import { openSqliteStore } from '../../src/coordination/sqlite-store.ts'
import type { Store } from '../../src/coordination/store.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { temporaryFolder } from '../support/project.ts'
import { conformsToStore, someAgent } from './store-conformance.ts'

describe('SQLite store', () => {
  const folders = new Map<string, string>()
  conformsToStore((name): Store => {
    const folder = folders.get(name) ?? temporaryFolder()
    folders.set(name, folder)
    const store = openSqliteStore(join(folder, 'coordination.db'))
    let isOpen = true
    const close = (): void => {
      if (isOpen) store.close()
      isOpen = false
    }
    onTestFinished(close)
    return { ...store, close }
  })
})

test('events can be neither changed nor removed, not even with SQL', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  openSqliteStore(path).close()
  const db = openDatabase(path, { migrations: MIGRATIONS })
  onTestFinished(() => db.close())
  db.exec(
    `INSERT INTO events (id, type, actor_kind, wall_ms, payload, origin) VALUES ('e', 'X', 'system', 1, '{}', 'o')`,
  )
  expect(() => db.exec(`UPDATE events SET type = 'Y'`)).toThrow('append-only')
  expect(() => db.exec(`DELETE FROM events`)).toThrow('append-only')
})

test('opening to read makes nothing, and a store that was only begun is finished first', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'coordination.db')
  expect(openSqliteStore(path, { readOnly: true })).toBeUndefined()
  expect(existsSync(path)).toBe(false)
  writeFileSync(path, '', { mode: 0o600 })
  const begun = openSqliteStore(path, { readOnly: true })
  expect(begun?.read((rows) => rows.agents())).toEqual([])
  begun?.close()
  const store = openSqliteStore(path)
  store.write((rows) => rows.putAgent(someAgent('amber-otter')))
  store.close()
  expect(statSync(path).mode & 0o077).toBe(0)
  const view = openSqliteStore(path, { readOnly: true })
  onTestFinished(() => view?.close())
  expect(() => view?.write((rows) => rows.putAgent(someAgent('cobalt-harbor')))).toThrow()
})

test('a corrupt store is refused by name and left as it is', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  writeFileSync(path, 'this is not a database, and long enough to be looked at as one'.repeat(20))
  const before = statSync(path).size
  for (const readOnly of [false, true])
    expect(() => (readOnly ? openSqliteStore(path, { readOnly: true }) : openSqliteStore(path))).toThrow(
      expect.objectContaining({ code: 'STORE_CORRUPT' }),
    )
  expect(statSync(path).size).toBe(before)
})

test('a store of the first version keeps its agents and claims, without a process that could be proved gone', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  const first = openDatabase(path, { migrations: MIGRATIONS.slice(0, 1) })
  first.exec(`
    INSERT INTO agents VALUES ('haid:ana.box-1f2e/cursor', 'cursor', 'Cursor', 'agent', 'cursor', '1', 'local', 1, 1, NULL,
      1, 'boot-1', 1, 1, NULL, NULL, NULL, NULL, 1, 'ab', 'cursor', 4711, 1, NULL);
    INSERT INTO claims VALUES (7, 'res_1', 'haid:ana.box-1f2e/cursor', 'T-1', NULL, '/repo', 60, 'active', 1,
      'boot-1', 1, 1, NULL, NULL, NULL, 'local', '[]');`)
  first.close()
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  expect(store.read((rows) => rows.agent('haid:ana.box-1f2e/cursor')?.session)).toMatchObject({
    client: 'cursor',
    process: null,
    tree: null,
  })
  expect(store.read((rows) => rows.claims({ state: 'active' }))).toMatchObject([{ epoch: 7, tree: null, toldMs: null }])
})
