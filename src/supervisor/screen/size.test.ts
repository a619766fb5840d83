// Whose size the terminal has.
import { expect, test } from 'vitest'
import { SizePolicy } from './size.ts'

const size = (cols: number, rows: number) => ({ cols, rows })

test('the last one who asked; on leaving, the one before; alone, it stays', () => {
  const policy = new SizePolicy<string>(size(80, 24), false)
  expect(policy.ask('a', size(100, 30))).toEqual(size(100, 30))
  expect(policy.ask('b', size(40, 10))).toEqual(size(40, 10))
  expect(policy.ask('b', size(40, 10))).toBeUndefined()
  expect(policy.leave('b')).toEqual(size(100, 30))
  expect(policy.leave('a')).toBeUndefined()
  expect(policy.current).toEqual(size(100, 30))
  expect(policy.leave('stranger')).toBeUndefined()
})

test('who is typed into has it again, if it ever asked', () => {
  const policy = new SizePolicy<string>(size(80, 24), false)
  policy.ask('a', size(100, 30))
  policy.ask('b', size(40, 10))
  expect(['a', 'b', 'a program that only types'].map((client) => policy.isOf(client))).toEqual([false, true, true])
  expect(policy.use('b')).toBeUndefined()
  expect(policy.use('a program that only types')).toBeUndefined()
  expect(policy.use('a')).toEqual(size(100, 30))
  expect(policy.use('a')).toBeUndefined()
  // And it was the last one now.
  expect(policy.leave('a')).toEqual(size(40, 10))
  expect(policy.use('b')).toBeUndefined()
})

test('a pinned size stays', () => {
  const policy = new SizePolicy<string>(size(80, 24), true)
  expect(policy.ask('a', size(100, 30))).toBeUndefined()
  policy.ask('b', size(40, 10))
  expect(policy.use('a')).toBeUndefined()
  expect(policy.current).toEqual(size(80, 24))
})
