import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RecordedSigns } from './call-signs.ts'

let runDir: string
const at = (minute: number): string => `2026-11-01T08:${String(minute).padStart(2, '0')}:00.000Z`

/** One decision as a shim writes it, with what a budget had counted after it. */
function decided(minute: number, rule: string, after: number, limit: number, counter = 'calls'): void {
  const counters = [{ rule_id: rule, counter, before: after - 1, after, limit }]
  const decision = { action: 'ALLOW', rule_id: null, enforced: true, counters }
  const event = { v: '0.1.0', type: 'tool_call_decision', ts: at(minute), call: { call_id: 'c' }, decision }
  appendFileSync(join(runDir, 'events.jsonl'), `${JSON.stringify(event)}\n`)
}

beforeEach(() => {
  runDir = mkdtempSync(join(tmpdir(), 'hm-signs-'))
})

afterEach(() => rmSync(runDir, { recursive: true, force: true }))

test('a budget of which nine tenths are used is near its end, since it came there; the nearest of several counts', () => {
  decided(1, 'few', 449, 500)
  const signs = new RecordedSigns(runDir)
  expect(signs.look(0).near).toBeUndefined()
  decided(2, 'few', 450, 500)
  decided(3, 'few', 486, 500)
  decided(4, 'other', 46, 50)
  const near = { rule_id: 'few', counter: 'calls', used: 486, limit: 500, since: at(2) }
  const looked = signs.look(0)
  expect(looked.near).toEqual(near)
  signs.close()
  // The next watcher goes on from what this one has booked.
  const next = new RecordedSigns(runDir, looked)
  expect(next.look(0).near).toEqual(near)
  decided(5, 'other', 49, 50, 'cost_units')
  expect(next.look(0).near).toEqual({ rule_id: 'other', counter: 'cost_units', used: 49, limit: 50, since: at(5) })
  next.close()
})

test.each([
  ['a small budget', 'calls', 3, 3],
  ['a rate limit', 'tokens', 99, 100],
  ['errors of a breaker', 'errors', 19, 20],
])('%s is none of these', (_, counter, after, limit) => {
  decided(1, 'rule', after, limit, counter)
  const signs = new RecordedSigns(runDir)
  expect(signs.look(0).near).toBeUndefined()
  signs.close()
})
