// No moment of a run is booked as waited for twice.
import { expect, test } from 'vitest'
import { fakeClock } from '../../test/support/fake-clock.ts'
import type { KeptRecord } from '../runs/kept-record.ts'
import { Waits } from './waits.ts'

test('a budget that goes on refusing behind a question is waited for from the end of the question on', () => {
  const clock = fakeClock()
  const ended: number[] = []
  const record = {
    waitStart: () => undefined,
    waitEnd: ({ waited_ms: ms }: { waited_ms: number }) => void ended.push(ms),
  } as unknown as KeptRecord
  const waits = new Waits(record, { wait: null, waits: { count: 0, ms: 0 } }, clock, () => undefined)
  const budget = { source: 'policy', evidence: 'budget: spent', since: new Date(clock.wallMs()).toISOString() }
  clock.advance(1_000)
  waits.begin(budget)
  clock.advance(1_000)
  waits.begin({ source: 'hook', evidence: 'which branch?' })
  clock.advance(8_000)
  waits.end({ answer: 'main', by: 'ana' })
  clock.advance(500)
  waits.begin(budget)
  clock.advance(1_500)
  waits.end({ answer: 'a call was allowed again', by: null })
  expect(ended).toEqual([10_000, 2_000])
  expect(waits.total).toEqual({ count: 2, ms: 12_000 })
})
