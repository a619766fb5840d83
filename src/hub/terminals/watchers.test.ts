import { expect, test } from 'vitest'
import { Watchers } from './watchers.ts'

test('each page hears how many look: pages of this hub once each, whatever connections they have, and others', () => {
  const watchers = new Watchers()
  const heard: number[] = []
  const leaveFirst = watchers.join('api', { viewers: () => 1, onCount: (count) => heard.push(count) })
  watchers.counted('api', 1)
  // A second page that types has two connections; somebody is attached at a terminal besides.
  const leaveSecond = watchers.join('api', { viewers: () => 2, onCount: () => undefined })
  watchers.counted('api', 4)
  watchers.join('other', { viewers: () => 1, onCount: () => undefined })
  leaveSecond()
  expect(heard).toEqual([1, 3, 2])
  leaveFirst()
  watchers.tell('api')
  expect(heard).toEqual([1, 3, 2])
})
