// A commit at the worst moment, between two looks of one catching up, makes nothing old for good.
import { expect, test } from 'vitest'
import type { Claim, Reader } from '../store.ts'
import { KeptReads } from './kept-reads.ts'

test.each(['version', 'tablesSince', 'head'] as const)('a commit right behind the look at %s is seen', (moment) => {
  /** What each entry has put rows into. */
  const entries = ['agents']
  let isTime = false
  const then = <T>(name: typeof moment, value: T): T => {
    if (isTime && name === moment) {
      isTime = false
      entries.push('claims')
    }
    return value
  }
  const held = (): Claim[] => (entries.includes('claims') ? [{ claimId: 'c1' } as Claim] : [])
  const kept = new KeptReads({
    rows: { head: () => then('head', entries.length), claims: held } as unknown as Reader,
    begin: () => undefined,
    commit: () => undefined,
    version: () => then('version', entries.length),
    tablesSince: (seq) => then('tablesSince', new Set(entries.slice(seq))),
  })
  const claims = (): number => kept.read((rows) => rows.claims({}).length)
  expect(claims()).toBe(0)
  const before = kept.mark()
  // Something else was committed, so that there is something to catch up with; what was said of claims is kept.
  entries.push('settings')
  isTime = true
  kept.mark()
  expect(isTime).toBe(false)
  expect(claims()).toBe(1)
  expect(kept.mark()).not.toBe(before)
  // And from then on it stands still.
  expect(kept.mark()).toBe(kept.mark())
})
