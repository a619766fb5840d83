// doctor said that all was well while the repository's store was corrupt, of a newer version, or held by somebody.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

const STORE = '.git/heimdall/coordination.db'

async function doctor(project: TemporaryProject): Promise<{ code: number | null; rows: Record<string, string> }> {
  const { code, stdout } = await project.run('heimdall', ['doctor', '--json'])
  const { data } = JSON.parse(stdout) as { data: { checks: { check: string; state: string; found: string }[] } }
  return { code, rows: Object.fromEntries(data.checks.map(({ check, state, found }) => [check, `${state} ${found}`])) }
}

async function used(): Promise<TemporaryProject> {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'x'])
  await project.run('heimdall', ['symbol', 'set', 'API', 'src/api.ts'])
  return project
}

test('sound stores are named', async () => {
  expect(await doctor(await used())).toMatchObject({
    code: 0,
    rows: {
      coordination: expect.stringMatching(/^ok .*coordination\.db, \d+ KiB$/),
      counters: 'ok counters of 0 runs',
      briefing: 'ok 1 symbols, 0 facts, 0 capsules, 0 ledger rows',
    },
  })
})

test('a corrupt store', async () => {
  const project = await used()
  writeFileSync(project.path(STORE), 'not a database, and longer than a header'.repeat(100))
  project.write('.planning/protocol/symbols.json', '{"version":')
  const { code, rows } = await doctor(project)
  expect(code).toBe(1)
  expect(rows['coordination']).toMatch(/^fail corrupt: .*coordination\.db/)
  expect(rows['briefing']).toMatch(/^fail corrupt: .*symbols\.json/)
})

test('a store of a newer version', async () => {
  const project = await used()
  const db = openDatabase(project.path(STORE), { migrations: Array.from({ length: 99 }, () => 'SELECT 1') })
  db.close()
  project.write('.planning/blackboard.json', '{"version": "3.0.0", "facts": {}}')
  const { rows } = await doctor(project)
  expect(rows['coordination']).toMatch(/^fail newer: .*schema version 99/)
  expect(rows['briefing']).toMatch(/^fail newer: /)
})

test('a store of an older version is left as it is', async () => {
  const project = await used()
  const versionOf = (set = ''): unknown => {
    const db = openDatabase(project.path(STORE), {
      migrations: Array.from({ length: 99 }, () => ''),
      readOnly: set === '',
    })
    if (set !== '') db.exec(set)
    const version = db.prepare('PRAGMA user_version').get()
    db.close()
    return version
  }
  versionOf('PRAGMA user_version = 0')
  expect((await doctor(project)).rows['coordination']).toMatch(/^ok .* of an older version/)
  expect(versionOf()).toEqual({ user_version: 0 })
})

test('a store that somebody holds, and the counters of a run', async () => {
  const project = await used()
  const run = join(project.env['XDG_STATE_HOME'] ?? '', 'heimdall/runs/r1')
  mkdirSync(run, { recursive: true })
  // Only a folder with a record of its own is a run.
  writeFileSync(join(run, 'events.jsonl'), `${JSON.stringify({ type: 'run_start', run_id: 'r1' })}\n`)
  writeFileSync(join(run, 'counters.db'), 'x'.repeat(5_000))
  const holder = openDatabase(project.path(STORE), {
    migrations: Array.from(
      { length: (await import('../../src/coordination/sqlite/schema.ts')).MIGRATIONS.length },
      () => '',
    ),
  })
  holder.exec('BEGIN IMMEDIATE')
  const { rows } = await doctor(project)
  holder.exec('ROLLBACK')
  holder.close()
  expect(rows['coordination']).toMatch(/^fail locked: /)
  expect(rows['counters']).toMatch(/^fail corrupt: .*r1\/counters\.db/)
})
