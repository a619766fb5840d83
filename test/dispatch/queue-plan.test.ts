// What a decision asks the store takes an index, whatever the number of tasks: a partial one is passed over where the question does not say that it may be taken.
import { expect, test } from 'vitest'
import { createDispatchReader } from '../../src/coordination/sqlite/dispatch-rows.ts'
import { MIGRATIONS } from '../../src/coordination/sqlite/schema.ts'
import { Statements } from '../../src/coordination/sqlite/statements.ts'
import { openScratchDatabase } from '../../src/storage/sqlite.ts'

test('no question of a decision reads all tasks, attempts or assignments', () => {
  const db = openScratchDatabase({ migrations: MIGRATIONS })
  const asked: string[] = []
  const heard = { ...db, prepare: (sql: string) => (asked.push(sql), db.prepare(sql)) }
  const rows = createDispatchReader(new Statements(heard))
  rows.queueHeads()
  rows.parked()
  rows.deadlines(1)
  rows.contract('T')
  rows.attempts({ open: true })
  rows.attempts({ taskId: 'T' })
  rows.tokenReservations('T')
  rows.assignment('A')
  rows.assignments({ workerId: 'w', open: true })
  rows.assignments({ workerId: 'w', taskId: 'T' })
  expect(asked.length).toBeGreaterThan(9)
  const steps = asked.flatMap((sql) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array.from(sql.matchAll(/\?/g), () => 'x'))
      .map((row) => (row as { detail: string }).detail),
  )
  const whole = /^(?:SCAN|SEARCH) (?:tasks|attempts|assignments|contracts|token_reservations)(?! USING)/
  expect(steps.filter((step) => whole.test(step))).toEqual([])
  db.close()
})
