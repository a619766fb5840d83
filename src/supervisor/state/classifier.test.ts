// Classifiers on time that the test owns: the states of seed 001, exact without anyone asking.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CLASSIFIERS } from '../../config-values.ts'
import { createClassifier } from './classifier.ts'

const choice = (name: 'claude' | 'simple' | 'none') => ({ name, idleThresholdMs: 3_000, debounceMs: 200 })

test('simple: a silent child is idle from its start, not active', () => {
  const simple = createClassifier(choice('simple'), 100)
  expect(simple.state(107)).toEqual({ name: 'idle', sinceMs: 100 })
  expect(simple.nextChangeMs(107)).toBeUndefined()
})

test('simple: active from the first output, idle from the threshold on, whoever looks whenever', () => {
  const simple = createClassifier(choice('simple'), 0)
  simple.record(1, 1_000)
  simple.record(1, 2_000)
  expect(simple.state(2_500)).toEqual({ name: 'active', sinceMs: 1_000 })
  expect(simple.nextChangeMs(2_500)).toBe(5_000)
  expect(simple.state(60_000)).toEqual({ name: 'idle', sinceMs: 5_000 })
  simple.record(1, 61_000)
  expect(simple.state(61_000)).toEqual({ name: 'active', sinceMs: 61_000 })
})

test.each(CLASSIFIERS)('%s: dead is the last state', (name) => {
  const classifier = createClassifier(choice(name), 0)
  classifier.end(500)
  classifier.record(9, 600)
  expect(classifier.state(900)).toEqual({ name: 'dead', sinceMs: 500 })
  expect(classifier.nextChangeMs(900)).toBeUndefined()
})

function claudeAfter(events: readonly (readonly [atMs: number, bytes: number])[]) {
  const claude = createClassifier(choice('claude'), 0)
  for (const [atMs, bytes] of events) claude.record(bytes, atMs)
  return claude
}

const beat = (from: number, count: number, gapMs: number, bytes: (i: number) => number) =>
  Array.from({ length: count }, (_, i): [number, number] => [from + i * gapMs, bytes(i)])

test('claude: a steady spinner is thinking, a varied stream is streaming, a burst is a tool', () => {
  expect(claudeAfter([]).state(50).name).toBe('idle')
  expect(claudeAfter(beat(0, 12, 100, () => 60)).state(1_150).name).toBe('thinking')
  expect(claudeAfter(beat(0, 12, 50, (i) => 20 + (i % 4) * 200)).state(600).name).toBe('streaming')
  expect(claudeAfter([...beat(0, 6, 100, () => 60), [700, 9_000], [950, 30]]).state(960).name).toBe('tool_use')
  expect(claudeAfter([...beat(0, 6, 100, () => 60), [900, 2_000], [1_150, 30]]).state(1_160).name).toBe('tool_use')
})

test('claude: a reading counts after the debounce time, and then from when it was made', () => {
  const claude = claudeAfter([[1_000, 10]])
  expect(claude.state(1_100)).toEqual({ name: 'idle', sinceMs: 0 })
  expect(claude.nextChangeMs(1_100)).toBe(1_200)
  expect(claude.state(1_200)).toEqual({ name: 'thinking', sinceMs: 1_000 })
  expect(claude.nextChangeMs(1_200)).toBe(4_000)
  expect(claude.state(9_999)).toEqual({ name: 'idle', sinceMs: 4_000 })
})

test('every classifier: looking more often changes nothing, times never run backwards, the next change is the next change', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CLASSIFIERS),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 5_000 }), fc.nat(9_000)), { maxLength: 40 }),
      (name, steps) => {
        const watched = createClassifier(choice(name), 0)
        const unwatched = createClassifier(choice(name), 0)
        let now = 0
        for (const [gap, bytes] of steps) {
          for (let at = now; at < now + gap; at += 97) {
            const state = watched.state(at)
            expect(state.sinceMs).toBeLessThanOrEqual(at)
            const next = watched.nextChangeMs(at)
            if (next === undefined || next > at + 97 || next > now + gap) continue
            expect(watched.state(next)).not.toEqual(state)
          }
          now += gap
          watched.record(bytes, now)
          unwatched.record(bytes, now)
        }
        expect(watched.state(now)).toEqual(unwatched.state(now))
        expect(watched.state(now + 10_000)).toEqual(unwatched.state(now + 10_000))
      },
    ),
    { numRuns: 60 },
  )
})
