// Search for long values: the cost grows with the text, not with the text times the value.
import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { Needles } from './needles.ts'

test('a text that repeats the first digit of a long value is searched in linear time', () => {
  const value = `a${'b7'.repeat(60_000)}`
  const needles = new Needles([{ bytes: Buffer.from(value), ignoresCase: true }])
  const startMs = performance.now()
  expect(needles.begun(Buffer.from('A'.repeat(value.length)))).toBe(1)
  expect(performance.now() - startMs).toBeLessThan(1_000)
  expect(needles.begun(Buffer.from(`x${value.slice(0, 50_000).toUpperCase()}`))).toBe(50_000)
})
