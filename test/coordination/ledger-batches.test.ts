// A whole history exported at once, as a machine does that has just joined a fleet: in files of a bounded size, each event once, whatever came with the repository and whenever it is killed.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changeAs } from '../../src/coordination/change.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { exportLedger } from '../../src/coordination/ledger/coordination-ledger.ts'
import { ledgerDir } from '../../src/coordination/ledger/ledger-files.ts'
import { storePath } from '../../src/coordination/store-path.ts'
import { inDatabase } from '../../src/coordination/sqlite/store-file.ts'
import { LEDGER_BATCH_BYTES, LEDGER_EVENTS_BYTES } from '../../src/limits.ts'
import { enter, openRoom } from './room.ts'

const EVENTS = 2_500

async function longHistory(): Promise<Coordination> {
  const room = openRoom()
  const amber = await enter(room, 'amber-otter')
  await changeAs(room, amber, (change) => {
    for (let i = 0; i < EVENTS; i += 1)
      change.record(
        i % 10 === 0
          ? { type: 'DECISION_RECORDED', payload: { title: `t${i}`, body: 'b', haid: amber.haid } }
          : { type: 'CONFLICT_RESOLVED', payload: { text: 'x'.repeat(4_000) } },
      )
  })
  return room
}

const eventFiles = (room: Coordination): string[] => {
  const dir = ledgerDir(room.project)
  return ['events.jsonl', ...readdirSync(join(dir, 'events')).map((name) => `events/${name}`)].map((name) =>
    join(dir, name),
  )
}

/** Of all files, and of the pages that people read. */
const counted = (room: Coordination): { lines: number; ids: number; decisions: number } => {
  const ids = eventFiles(room).flatMap((path) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  )
  const decisions = readFileSync(join(ledgerDir(room.project), 'decisions.md'), 'utf8').match(/^## /gm)?.length ?? 0
  return { lines: ids.length, ids: new Set(ids).size, decisions }
}

const forget = (room: Coordination): void =>
  inDatabase(storePath(room.project), (db) => db.exec(`DELETE FROM local_settings WHERE key GLOB 'exported:*'`))

const WHOLE = { lines: EVENTS + 1, ids: EVENTS + 1, decisions: EVENTS / 10 }

test('a history of many megabytes goes into files of a bounded size, and into none of them twice', async () => {
  const room = await longHistory()
  await exportLedger(room)
  expect(counted(room)).toEqual(WHOLE)
  for (const path of eventFiles(room))
    expect(statSync(path).size).toBeLessThan(LEDGER_EVENTS_BYTES + 2 * LEDGER_BATCH_BYTES)
  // As by a new copy of a store, beside files that came with the repository.
  forget(room)
  await exportLedger(room)
  expect(counted(room)).toEqual(WHOLE)
})

test('killed after any part of it, the next command goes on from there', async () => {
  const room = await longHistory()
  await exportLedger(room)
  forget(room)
  const told: number[] = []
  for (let isDone = false; !isDone;)
    isDone = await exportLedger(room, undefined, (events) => {
      told.push(events.length)
      throw new Error('killed')
    }).then(
      () => true,
      () => false,
    )
  expect(told.length).toBeGreaterThan(5)
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(EVENTS + 1)
  expect(counted(room)).toEqual(WHOLE)
})
