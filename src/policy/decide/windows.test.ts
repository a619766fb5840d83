// Packed windows against a plain map: the same answers, whatever the order of writes, also across generations.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { POLICY_WINDOWS_MAX } from '../../limits.ts'
import type { Cell } from '../types.ts'
import { Windows } from './windows.ts'

const hashOf = (n: number): string => createHash('sha256').update(String(n)).digest('hex')

const step = fc.record({
  key: fc.constantFrom('repeats a ', 'repeats b ', 'dedupe a '),
  // Few, so that writes meet; two of them no hashes at all.
  args: fc.nat(40).map((n) => (n < 2 ? `short ${n}` : hashOf(n))),
  cell: fc.oneof(fc.constant(null), fc.array(fc.nat(1_000_000), { maxLength: 3 })),
})

test('the same as a map, for any writes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
      const windows = new Windows()
      const model = new Map<string, Cell>()
      for (const { key, args, cell } of steps) {
        windows.set(key, args, cell)
        // A window without any time is as good as none.
        if (cell === null || cell.length === 0) model.delete(key + args)
        else model.set(key + args, cell)
        expect(windows.get(key, args)).toEqual(model.get(key + args))
      }
      for (const { key, args } of steps) expect(windows.get(key, args)).toEqual(model.get(key + args))
    }),
    { numRuns: scaled(12, 1_000) },
  )
})

test('the last POLICY_WINDOWS_MAX are always there, and what was forgotten stays so in both generations', () => {
  const windows = new Windows()
  for (let n = 0; n < POLICY_WINDOWS_MAX; n += 1) windows.set('dedupe ', hashOf(n), [n])
  windows.set('dedupe ', hashOf(-1), [1])
  // Now in the older generation: forgetting it must not let it come back.
  windows.set('dedupe ', hashOf(5), null)
  expect(windows.get('dedupe ', hashOf(5))).toBeUndefined()
  for (let n = 6; n < POLICY_WINDOWS_MAX; n += 1) if (windows.get('dedupe ', hashOf(n))?.[0] !== n) expect.fail(`${n}`)
})

test('keys that come and go, as names of tools do, are never taken for each other', () => {
  const windows = new Windows()
  const keys = 3 * POLICY_WINDOWS_MAX
  const same = hashOf(0)
  for (let n = 0; n < keys; n += 1) {
    // One key is used all the time, each of the others once, all with the same arguments.
    if (n % 1_000 === 0) windows.set('dedupe always ', hashOf(n), [n])
    if (windows.get(`dedupe ${n} `, same) !== undefined) expect.fail(`${n} is not new`)
    windows.set(`dedupe ${n} `, same, [n])
  }
  const isLate = (n: number): boolean => n > keys - POLICY_WINDOWS_MAX + 1_000
  for (let n = 0; n < keys; n += 1) {
    const time = windows.get(`dedupe ${n} `, same)?.[0]
    if (time !== n && (time !== undefined || isLate(n))) expect.fail(`${n} has ${time}`)
    if (n % 1_000 === 0 && isLate(n)) expect(windows.get('dedupe always ', hashOf(n))).toEqual([n])
  }
  expect(windows.get('dedupe 0 ', hashOf(0))).toBeUndefined()
})
