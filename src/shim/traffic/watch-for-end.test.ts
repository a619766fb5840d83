// A client that is gone before the shim has begun to look is noticed all the same.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { watchForEnd } from './watch-for-end.ts'

test.each([
  ['died while the shim started', 1, [0]],
  ['lives', 42, []],
])('a parent that %s', (_, now, ends) => {
  const ended: number[] = []
  const watch = watchForEnd({ signals: new EventEmitter(), clock: fakeClock(), parent: 42, parentPid: () => now })
  const stop = watch((code) => void ended.push(code))
  expect(ended).toEqual(ends)
  stop()
})
