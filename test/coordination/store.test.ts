// The SQLite store: the conformance suite, and what is its own (append-only by trigger, opening to read, earlier versions, trimming).
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { waitForClaim } from '../../src/coordination/claims/queue.ts'
import { openSqliteStore } from '../../src/coordination/sqlite/open-store.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import type { Store } from '../../src/coordination/store.ts'
import { createIdSource } from '../../src/id-source.ts'
import { ENTRIES_KEPT_MIN, ENTRIES_KEPT_MS, ENTRIES_TRIM_EVERY } from '../../src/limits.ts'
import { type Database, openDatabase } from '../../src/storage/sqlite.ts'
import { join as joinMcp } from '../mcp/session.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject, type TemporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'
import { enter, openRoom, wants } from './room.ts'
import { conformsToStore, entriesOf, someAgent } from './store-conformance.ts'

const writable = { clock: systemClock, newId: createIdSource(systemClock) }
const toRead = { clock: systemClock, readOnly: true } as const

describe('SQLite store', () => {
  const folders = new Map<string, string>()
  conformsToStore((name): Store => {
    const folder = folders.get(name) ?? temporaryFolder()
    folders.set(name, folder)
    const store = openSqliteStore(join(folder, 'coordination.db'), writable)
    let isOpen = true
    const close = (): void => {
      if (isOpen) store.close()
      isOpen = false
    }
    onTestFinished(close)
    return { ...store, close }
  })
})

/** Two connections to one new store. Here a change is made at the call, so that it can come in the middle of a read. */
function two(): [Store, Store] {
  const path = join(temporaryFolder(), 'coordination.db')
  const stores: [Store, Store] = [openSqliteStore(path, writable), openSqliteStore(path, writable)]
  onTestFinished(() => stores.forEach((store) => store.close()))
  return stores
}

test('a reader sees one moment, whatever is written meanwhile', async () => {
  const [reader, writer] = two()
  await writer.change((rows) => rows.putAgent(someAgent('amber-otter')))
  const changes: Promise<void>[] = []
  reader.read((rows) => {
    expect(rows.agents()).toHaveLength(1)
    changes.push(writer.change((more) => more.putAgent(someAgent('cobalt-harbor'))))
    expect(rows.agents()).toHaveLength(1)
  })
  await Promise.all(changes)
  expect(reader.read((rows) => rows.agents())).toHaveLength(2)
})

test('known and unknown answers of one read are of the same moment', async () => {
  const [reader, writer] = two()
  const put = (value: string): Promise<void> =>
    writer.change((rows) => {
      rows.putSetting('left', value)
      rows.putSetting('right', value)
    })
  await put('1')
  expect(reader.read((rows) => rows.setting('left'))).toBe('1')
  const changes: Promise<void>[] = []
  const both = reader.read((rows) => {
    const left = rows.setting('left')
    if (changes.length === 0) changes.push(put('2'))
    return [left, rows.setting('right')]
  })
  await Promise.all(changes)
  expect(both).toEqual(['2', '2'])
})

test('events can be neither changed nor removed, not even with SQL', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  openSqliteStore(path, writable).close()
  const db = openDatabase(path, { migrations: MIGRATIONS })
  onTestFinished(() => db.close())
  db.exec(
    `INSERT INTO events (id, type, actor_kind, wall_ms, payload, origin) VALUES ('e', 'X', 'system', 1, '{}', 'o')`,
  )
  expect(() => db.exec(`UPDATE events SET type = 'Y'`)).toThrow('append-only')
  expect(() => db.exec(`DELETE FROM events`)).toThrow('append-only')
})

test('opening to read makes nothing, and a store that was only begun is finished first', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'coordination.db')
  expect(openSqliteStore(path, toRead)).toBeUndefined()
  expect(existsSync(path)).toBe(false)
  writeFileSync(path, '', { mode: 0o600 })
  const begun = openSqliteStore(path, toRead)
  expect(begun?.read((rows) => rows.agents())).toEqual([])
  await expect(begun?.change((rows) => rows.putAgent(someAgent('cobalt-harbor')))).rejects.toThrow()
  begun?.close()
  const store = openSqliteStore(path, writable)
  await store.change((rows) => rows.putAgent(someAgent('amber-otter')))
  store.close()
  expect(statSync(path).mode & 0o077).toBe(0)
  const view = openSqliteStore(path, toRead)
  onTestFinished(() => view?.close())
  await expect(view?.change((rows) => rows.putAgent(someAgent('cobalt-harbor')))).rejects.toThrow()
})

test('a corrupt store is refused by name and left as it is', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  writeFileSync(path, 'this is not a database, and long enough to be looked at as one'.repeat(20))
  const before = statSync(path).size
  for (const open of [() => openSqliteStore(path, writable), () => openSqliteStore(path, toRead)])
    expect(open).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }))
  expect(statSync(path).size).toBe(before)
})

/** As a program of that version has left it, from a dump. */
function earlierStore(version: 1 | 2): string {
  const path = join(temporaryFolder(), 'coordination.db')
  const db = openDatabase(path, { migrations: [] })
  db.exec(readFileSync(new URL(`../fixtures/stores/v${version}.sql`, import.meta.url), 'utf8'))
  db.close()
  return path
}

test.each([1, 2] as const)('a store of version %i is taken over whole, and followed from here on', async (version) => {
  const path = earlierStore(version)
  const store = openSqliteStore(path, writable)
  onTestFinished(() => store.close())
  const state = store.read((rows) => ({
    agents: rows
      .agents()
      .map(({ agentId, role, beat, runtime: session }) => [agentId, role, beat.count > 0, session.epoch]),
    claims: rows.claims({}).map(({ epoch, task, state, worktree }) => [epoch, task, state, worktree]),
    // Newest first, in the order in which they were sent.
    notes: rows.notes({}).map(({ subject, state }) => [subject, state]),
    tasks: rows.tasks({}).map(({ taskId, state }) => [taskId, state]),
    events: rows.events({}).map(({ seq }) => seq),
    incursions: rows.events({ types: ['INCURSION'] }).map(({ id }) => rows.incursionCounts([id]).get(id)),
    settings: [rows.setting('stale-minutes'), rows.setting('case-sensitive'), rows.localSetting('case-sensitive')],
    exported: rows.localSetting('exported:/repo/.planning')?.split(' ')[0],
  }))
  expect(state).toEqual({
    agents: expect.arrayContaining([
      ['amber-otter', 'backend', true, 1],
      ['cobalt-harbor', 'ui', true, 1],
    ]),
    claims: [
      [1, 'T-1', 'released', '/repo'],
      [2, 'T-2', 'active', '/repo'],
      [3, 'T-3', 'active', '/repo'],
    ],
    notes: [
      ['three', 'unread'],
      ['two', 'unread'],
      ['one', 'unread'],
    ],
    tasks: [['T-9', 'in_progress']],
    events: Array.from({ length: 12 }, (_, i) => i + 1),
    incursions: [1],
    // The first version had no patience of its own.
    settings: [version === 1 ? undefined : '15', undefined, 'yes'],
    exported: '12',
  })
  // What was there before is in no entry: whoever wants it reads it, and follows from its number.
  await expect(entriesOf(store, 0, 1)).rejects.toMatchObject({ code: 'FOLLOW_TOO_OLD', details: { seq: 2 } })
  const { head } = store.read((rows) => ({ head: rows.head() }))
  await store.change((rows) => rows.events({ last: 1 }).map((event) => rows.addEvent({ ...event, id: 'e-next' })))
  expect(await entriesOf(store, head, 1)).toMatchObject([{ seq: head + 1, events: [{ id: 'e-next', seq: 13 }] }])
})

test('what the program before this one holds open is taken over under its hands only once', () => {
  const path = earlierStore(2)
  const stores = [1, 2, 3].map(() => openSqliteStore(path, writable))
  expect(stores.map((store) => store.read((rows) => rows.head()))).toEqual([2, 2, 2])
  for (const store of stores) store.close()
})

test('a store of a newer version is refused and left as it is', () => {
  const path = join(temporaryFolder(), 'coordination.db')
  const newer = openDatabase(path, { migrations: [...MIGRATIONS, 'CREATE TABLE later (n INTEGER)'] })
  newer.close()
  for (const open of [() => openSqliteStore(path, writable), () => openSqliteStore(path, toRead)])
    expect(open).toThrow(expect.objectContaining({ code: 'STORE_NEWER' }))
})

test('entries are kept for a bounded time, and whoever comes later is told where to start', async () => {
  const clock = fakeClock()
  const path = join(temporaryFolder(), 'coordination.db')
  const store = openSqliteStore(path, { clock, newId: createIdSource(clock) })
  onTestFinished(() => store.close())
  // The rows of one transaction are cheap, its flush is not: entries are put in by hand, as old ones.
  const old = fill(path, ENTRIES_KEPT_MIN + 2 * ENTRIES_TRIM_EVERY, clock.wallMs())
  clock.advance(ENTRIES_KEPT_MS + 1)
  for (let n = 0; n < ENTRIES_TRIM_EVERY; n += 1) await store.change((rows) => rows.putSetting('k', String(n)))
  const error: unknown = await entriesOf(store, 0, 1).catch((reason: unknown) => reason)
  const head = old + ENTRIES_TRIM_EVERY
  expect(error).toMatchObject({ code: 'FOLLOW_TOO_OLD', details: { seq: head } })
  expect(await entriesOf(store, head - ENTRIES_KEPT_MIN, 1)).toMatchObject([{ seq: head - ENTRIES_KEPT_MIN + 1 }])
  expect(store.read((rows) => [rows.head(), rows.setting('k')])).toEqual([head, String(ENTRIES_TRIM_EVERY - 1)])
})

/** Returns the number of the last one. */
function fill(path: string, count: number, wallMs: number): number {
  const db: Database = openDatabase(path, { migrations: MIGRATIONS })
  const insert = db.prepare(
    `INSERT INTO entries (id, wall_ms, bytes_total, tables, puts) VALUES ('old', ?, 0, '', '[]')`,
  )
  db.transaction(() => {
    for (let n = 0; n < count; n += 1) insert.run(wallMs)
  })
  db.close()
  return count
}

// A running process stops using a store that was migrated by a newer version or replaced.
/** As a version would that has a hundred migrations. */
function migrateAway(project: TemporaryProject): void {
  const db = openDatabase(project.path('.git/heimdall/coordination.db'), {
    migrations: Array.from({ length: 100 }, () => 'DROP TABLE IF EXISTS entries'),
  })
  db.close()
}

const start = (project: TemporaryProject, ...words: string[]): Program =>
  startProgram([...launcher('heimdall'), ...words], { cwd: project.root, env: project.env })

test('a server that runs changes nothing and answers nothing in a store that has become newer than it', async () => {
  const project = temporaryProject()
  const cursor = await joinMcp(project, 'cursor')
  expect((await cursor.call('make_claim', { surfaces: ['src/a'], task: 'T-1' })).isError).toBe(false)
  migrateAway(project)
  for (const [tool, args] of [
    ['make_claim', { surfaces: ['src/b'], task: 'T-2' }],
    ['check_claim', { surfaces: ['src/a'] }],
    ['release_claim', {}],
  ] as const)
    expect(JSON.stringify(await cursor.call(tool, args))).toContain('this program knows')
})

test('whoever follows or waits ends with one clear line when the store becomes newer', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
  await project.run('heimdall', ['claim', 'src', '--agent', 'amber-otter'])
  const watch = start(project, 'watch')
  const wait = start(project, 'claim', 'wait', 'src', '--agent', 'cobalt-harbor', '--timeout', '10m')
  await until('the watch', () => watch.stderr().includes('following from'))
  await until('the wait', () => wait.stderr().includes('waiting for amber-otter'))
  migrateAway(project)
  for (const program of [watch, wait]) {
    expect((await program.ended).code, program.stderr()).toBe(8)
    expect(program.stderr()).toMatch(/^error: .* has schema version 100, this program knows \d+$/m)
    expect(program.stderr()).not.toMatch(/^ +at /m)
  }
})

test('watch follows the store that took the place of the one that it followed', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const watch = start(project, 'watch', '--json')
  await watch.nextLine(/"following"/)
  renameSync(project.path('.git/heimdall'), project.path('.git/aside'))
  await project.run('bb', ['agent', 'register', '--name', 'cobalt-harbor', '--role', 'ui'])
  await watch.nextLine(/^\{"type":"entry".*"from_agent":"cobalt-harbor"/)
  // Said before that line, on another pipe, which may be read later.
  await until('the note', () => watch.stderr().includes('store was removed or replaced'))
})

test('nothing is granted in a store that has left its place, and whoever waits there is told', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  const [owner, waiter] = [await enter(room, 'amber-otter'), await enter(room, 'cobalt-harbor')]
  await claimScopes(room, owner, wants(room, 'src'))
  const wait = waitForClaim(room, waiter, wants(room, 'src'), { timeoutMs: 600_000 })
  const refused = expect(wait).rejects.toMatchObject({ code: 'STORE_REPLACED' })
  await clock.advanceAsync(0)
  renameSync(storePath(room.project), `${storePath(room.project)}.aside`)
  await clock.advanceAsync(10_000)
  await refused
  await expect(claimScopes(room, owner, wants(room, 'docs'))).rejects.toMatchObject({ code: 'STORE_REPLACED' })
})

test('whoever follows a fleet without waiting for it is told of a newer store, and not ended by it', async () => {
  const room = openRoom({ clock: fakeClock() })
  openDatabase(storePath(room.project), { migrations: Array.from({ length: 100 }, () => '') }).close()
  const told: string[] = []
  await room.store.link(new AbortController().signal, ({ code }) => told.push(code))
  expect(told).toEqual(['STORE_NEWER'])
})

// An emptied store, or a dangling link, is an error and not an empty repository.
async function withClaim(): Promise<{ project: TemporaryProject; store: string }> {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const taken = await project.run('heimdall', ['claim', 'src', '--agent', 'amber-otter'])
  expect(taken).toMatchObject({ code: 0 })
  return { project, store: project.path('.git/heimdall/coordination.db') }
}

const QUESTIONS = [
  ['claim', 'check', 'src/x'],
  ['claim', 'list'],
  ['claim', 'docs', '--agent', 'amber-otter'],
]

test('an empty store beside the keys of its agents is corrupt, and never clear', async () => {
  const { project, store } = await withClaim()
  truncateSync(store)
  for (const words of QUESTIONS)
    expect([words, await project.run('heimdall', words)]).toMatchObject([
      words,
      { code: 8, stdout: '', stderr: expect.stringMatching(/coordination\.db is empty[^]*hint: .*move it aside/) },
    ])
  renameSync(store, `${store}.aside`)
  expect(await project.run('heimdall', ['claim', 'check', 'src/x'])).toMatchObject({ code: 0 })
})

test('a link in the place of the store is refused by who reads as by who writes', async () => {
  const { project, store } = await withClaim()
  renameSync(store, `${store}.aside`)
  symlinkSync(`${store}.nowhere`, store)
  for (const words of QUESTIONS)
    expect([words, await project.run('heimdall', words)]).toMatchObject([
      words,
      { code: 8, stdout: '', stderr: expect.stringContaining('is a symbolic link') },
    ])
})

test('a claim that stands in for an earlier one of the same agent says which it released', async () => {
  const { project } = await withClaim()
  const docs = await project.run('heimdall', ['claim', 'docs', '--agent', 'amber-otter'])
  expect(docs).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('released: src, your earlier claim for no task'),
  })
  const lib = await project.run('heimdall', ['claim', 'lib', '--agent', 'amber-otter', '--json'])
  expect(JSON.parse(lib.stdout)).toMatchObject({ data: { released: [{ task: null, scopes: ['docs'] }] } })
})

// A store that the caller may not read does not make a held path look free.
const NOBODY = 65_534

test('seed 002 §5: who cannot look into the store is told so, and never that a path is free', async () => {
  const project = temporaryProject()
  const room = openRoom({ project })
  await claimScopes(room, await enter(room, 'amber-otter'), wants(room, 'src'))
  // Root steps down; others lose the right to enter.
  const isRoot = process.getuid?.() === 0
  const folder = room.project.coordinationDir
  spawnSync('chmod', ['-R', 'a+rX', dirname(project.root)])
  chmodSync(folder, isRoot ? 0o700 : 0o000)
  try {
    for (const words of [['claim', 'check', 'src/x'], ['why', 'src/x'], ['claim', 'list'], ['doctor']]) {
      const [node, ...args] = [...launcher('heimdall'), ...words] as [string, ...string[]]
      const { status, stdout, stderr } = spawnSync(node, args, {
        cwd: project.root,
        env: { PATH: process.env['PATH'], ...project.env },
        encoding: 'utf8',
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      })
      expect([words, status, stdout + stderr]).toEqual([words, expect.any(Number), expect.stringMatching(/EACCES/)])
      expect([words, status]).not.toEqual([words, 0])
    }
  } finally {
    chmodSync(folder, 0o700)
  }
})
