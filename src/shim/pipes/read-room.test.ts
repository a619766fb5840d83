// Memory is read into again when all that was taken of it has come back, and never before.
import { expect, test } from 'vitest'
import { READ_BYTES_MAX, READ_ROOM_BYTES } from '../../limits.ts'
import { ReadRoom } from './read-room.ts'

/** Reads so many bytes, each of them `byte`. */
function read(room: ReadRoom, byte: number, bytes: number): Buffer {
  room.next().fill(byte, 0, bytes)
  return room.take(bytes)
}

test('what was given back is read into again', () => {
  const room = new ReadRoom()
  const first = read(room, 1, 100)
  room.giveBack(first)
  expect(read(room, 2, 100).buffer).toBe(first.buffer)
  expect(first[0]).toBe(2)
})

test('what was kept stays as it is, however much is read and given back behind it', () => {
  const room = new ReadRoom()
  const kept = [read(room, 1, READ_BYTES_MAX), read(room, 2, 10)]
  for (let n = 0; n < (4 * READ_ROOM_BYTES) / 1_000; n += 1) room.giveBack(read(room, 3, 1_000))
  expect(kept.map((chunk) => chunk.every((byte) => byte === chunk[0]))).toEqual([true, true])
  expect(kept.map(([byte]) => byte)).toEqual([1, 2])
})

test('a slab whose chunks come back late, and in any order, is used again as a whole', () => {
  const room = new ReadRoom()
  const slabs = new Set<unknown>()
  for (let turn = 0; turn < 10; turn += 1) {
    const chunks = Array.from({ length: 8 }, (_, n) => read(room, n, READ_BYTES_MAX))
    for (const [n, chunk] of chunks.entries()) expect([chunk[0], chunk.at(-1)]).toEqual([n, n])
    for (const chunk of chunks) slabs.add(chunk.buffer)
    for (const chunk of chunks.toReversed()) room.giveBack(chunk)
  }
  expect(slabs.size).toBeLessThanOrEqual(5)
})
