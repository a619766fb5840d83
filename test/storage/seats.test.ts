// Seats: who of those that share a file is still there, as the kernel says it.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Seats } from '../../src/storage/seats.ts'
import { temporaryFolder } from '../support/project.ts'

test('a seat is taken until whoever has it leaves, and each has one of its own', () => {
  const path = join(temporaryFolder(), 'shared')
  const [one, other, third] = [new Seats(path), new Seats(path), new Seats(path)]
  const [mine, theirs] = [one.take(), other.take()]
  expect(one.take()).toBe(mine)
  expect(theirs).not.toBe(mine)
  for (const seats of [one, other, third]) expect([seats.isTaken(mine), seats.isTaken(theirs)]).toEqual([true, true])
  // Whoever looks takes nothing.
  one.leave()
  for (const seats of [other, third]) expect([seats.isTaken(mine), seats.isTaken(theirs)]).toEqual([false, true])
  expect(one.take()).not.toBe(0)
  other.leave()
  expect(third.isTaken(theirs)).toBe(false)
  for (const seats of [one, third]) seats.leave()
})
