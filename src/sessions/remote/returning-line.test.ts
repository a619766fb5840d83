// A line that breaks, with the other end in the test's hands: what the session is told once more, and what a person hears of what was typed.
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { until } from '../../../test/support/wait.ts'
import { encodeFrame, encodeJson, encodeResize } from '../../wire/encode.ts'
import { MODE_BINARY } from '../../wire/frames.ts'
import { FrameReader } from '../../wire/reader.ts'
import { ReturningLine } from './returning-line.ts'

/** The session's end of one line, and what it has heard on it. */
function sessionEnd() {
  const heard: { readonly name: string; readonly payload: string }[] = []
  const reader = new FrameReader('client', {
    frame: (name, payload) => void heard.push({ name, payload: payload.toString('hex') }),
  })
  const line = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      reader.push(chunk)
      done()
    },
  })
  line.push(Buffer.from([MODE_BINARY]))
  return { line, heard, names: () => heard.map(({ name }) => name) }
}

test('who comes back is told the size again, and what was typed into the gap is doubted when the line breaks once more', async () => {
  const [first, second, third] = [sessionEnd(), sessionEnd(), sessionEnd()]
  const lines = [second, third]
  const told: string[] = []
  const open = { isAllowed: false }
  const returning = new ReturningLine({
    first: first.line,
    again: async () => {
      await until('the way to be free', () => open.isAllowed)
      return { line: lines.shift()?.line ?? first.line }
    },
    clock: systemClock,
    tell: (words) => void told.push(words),
  })
  returning.resume()
  returning.write(encodeJson('subscribe', { from: 0 }))
  const size = encodeResize({ cols: 97, rows: 31 })
  returning.write(size)
  await until('the size', () => first.names().includes('resize'))

  first.line.destroy()
  await until('the loss to be told', () => told.length > 0)
  returning.write(encodeFrame('input', Buffer.from('abc')))
  open.isAllowed = true
  await until('what was typed', () => second.names().includes('input'))
  expect(second.names()).toEqual(['subscribe', 'resize', 'input'])
  expect(second.heard[1]?.payload).toBe(first.heard[1]?.payload)
  expect(told.at(-1)).toBe('connected again')

  // Nothing says that those three have arrived.
  second.line.destroy()
  await until('the third line', () => third.names().includes('resize'))
  await until('the doubt', () => told.at(-1)?.startsWith('connected again;'))
  expect(told.at(-1)).toBe('connected again; 3 bytes that were typed may not have arrived')
  expect(third.names()).not.toContain('input')
  returning.destroy()
})
