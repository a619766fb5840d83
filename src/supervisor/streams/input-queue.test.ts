// Input: complete, in order, bounded, and refused to its sender when the child is gone.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { INPUT_PENDING_BYTES_MAX } from '../../limits.ts'
import { fakeClock } from '../../../test/support/fake-clock.ts'
import { InputQueue } from './input-queue.ts'

class Sender {
  written_ = 0
  refused_ = 0
  written(bytes: number): void {
    this.written_ += bytes
  }
  refused(bytes: number): void {
    this.refused_ += bytes
  }
}

test('whatever the terminal takes at a time, all bytes arrive once and in order', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 50 })), fc.array(fc.nat(20)), (texts, takes) => {
      const clock = fakeClock()
      let got = ''
      let turn = 0
      const queue = new InputQueue(
        (bytes) => {
          turn += 1
          const take = takes.length === 0 ? bytes.length : Math.min(bytes.length, takes[turn % takes.length] ?? 0)
          got += Buffer.from(bytes.subarray(0, take)).toString('latin1')
          return turn > 5_000 ? bytes.length : take
        },
        clock,
        () => undefined,
      )
      const senders = texts.map(() => new Sender())
      texts.forEach((text, i) => queue.push(senders[i] as Sender, Buffer.from(text, 'latin1')))
      if (takes.some((take) => take > 0) || takes.length === 0) {
        clock.advance(1_000_000)
        expect(got).toBe(texts.map((text) => Buffer.from(text, 'latin1').toString('latin1')).join(''))
        expect(senders.map((sender) => sender.written_)).toEqual(texts.map((text) => text.length))
        expect(queue.pendingBytes).toBe(0)
      }
    }),
  )
})

test('full: says so, and says when there is room again; closed: what is left is refused', () => {
  const clock = fakeClock()
  let isOpen = false
  let rooms = 0
  const queue = new InputQueue(
    (bytes) => (isOpen ? bytes.length : 0),
    clock,
    () => (rooms += 1),
  )
  const sender = new Sender()
  queue.push(sender, Buffer.alloc(INPUT_PENDING_BYTES_MAX))
  expect([queue.isFull, rooms]).toEqual([true, 0])
  isOpen = true
  clock.advance(1_000)
  expect([queue.isFull, rooms, sender.written_]).toEqual([false, 1, INPUT_PENDING_BYTES_MAX])
  isOpen = false
  queue.push(sender, Buffer.alloc(10))
  queue.close()
  queue.push(sender, Buffer.alloc(5))
  expect([sender.refused_, queue.pendingBytes, clock.pending()]).toEqual([15, 0, 0])
})

test.each([
  ['at once', [7, undefined]],
  ['after a wait', [4, 0, 3, undefined]],
])('the terminal goes in the middle of a frame, %s: each byte is written or refused, none is both', (_, takes) => {
  const clock = fakeClock()
  const answers = [...takes]
  const queue = new InputQueue(
    () => answers.shift(),
    clock,
    () => undefined,
  )
  const sender = new Sender()
  queue.push(sender, Buffer.alloc(20))
  clock.advance(1_000)
  expect([sender.written_, sender.refused_, queue.pendingBytes, clock.pending()]).toEqual([7, 13, 0, 0])
})
