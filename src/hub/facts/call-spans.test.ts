import { expect, test } from 'vitest'
import type { IndexEntry } from '../../runs/index/search.ts'
import { CallSpans } from './call-spans.ts'

const entry = (id: number, atMs: number, more: Partial<IndexEntry> = {}): IndexEntry =>
  ({
    id,
    atMs,
    latencyMs: 1,
    server: 'fs',
    tool: 'read',
    decision: 'ALLOW',
    runId: 'r',
    callId: `c${id}`,
    status: 'OK',
    ...more,
  }) as IndexEntry

test('a hundred thousand calls are no more marks than can be told apart, and none is lost', () => {
  const spans = new CallSpans(0, 1_000_000)
  for (let id = 0; id < 100_000; id += 1) spans.add(entry(id, id * 10, id % 100 === 0 ? { decision: 'BLOCK' } : {}))
  const made = spans.spans()
  expect(made.length).toBeLessThanOrEqual(2 * 2 * 2_000)
  const sum = (lane: string): number =>
    made.filter((span) => span.lane === lane).reduce((total, { count }) => total + count, 0)
  expect(sum('call')).toBe(100_000)
  expect(sum('decision')).toBe(1_000)
})

test('calls that can be told apart stay apart, each with its own length', () => {
  const spans = new CallSpans(0, 2_000_000)
  spans.add(entry(1, 0))
  spans.add(entry(2, 0, { latencyMs: 5_000 }))
  spans.add(entry(3, 10_000, { decision: 'REJECT_WITH_HINT', tool: 'push' }))
  expect(spans.spans().map(({ lane, label, count, from, to }) => [lane, label, count, from, to])).toEqual([
    ['call', 'read', 1, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.001Z'],
    ['call', 'read', 1, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:05.000Z'],
    ['call', 'push', 1, '1970-01-01T00:00:10.000Z', '1970-01-01T00:00:10.001Z'],
    ['decision', 'push', 1, '1970-01-01T00:00:10.000Z', null],
  ])
})
