import { expect, test } from 'vitest'
import { PassingMap } from './passing-map.ts'

test('what is put in is found, replaced and taken out once', () => {
  const map = new PassingMap<number | string, string>()
  map.set(1, 'one')
  map.set('s1', 'text')
  map.set(1, 'other')
  expect([map.size, map.get(1), map.get('s1'), map.has(2)]).toEqual([2, 'other', 'text', false])
  expect([map.take(1), map.take(1), map.has(1), map.size]).toEqual(['other', undefined, false, 1])
})

test('all are taken out in the order in which their keys came', () => {
  const map = new PassingMap<number, string>()
  for (const key of [3, 1, 2]) map.set(key, String(key))
  map.take(1)
  map.set(1, 'again')
  map.set(3, 'changed')
  expect(map.takeAll()).toEqual(['changed', '2', 'again'])
  expect([map.size, map.takeAll()]).toEqual([0, []])
})
