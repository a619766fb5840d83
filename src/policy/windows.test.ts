// Packed windows against a plain map: the same answers, whatever the order of writes, also across generations.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { POLICY_WINDOWS_MAX } from '../limits.ts'
import type { Cell } from './types.ts'
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
