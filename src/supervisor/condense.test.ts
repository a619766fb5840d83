// What is kept of output that is passed over: everything that outlasts the text.
import { expect, test } from 'vitest'
import { condense } from './condense.ts'

test('modes, margins, resets and the last colours are kept in order; text, positions and other commands are not', () => {
  const kept = '\x1b[?1049h\x1b[?25l\x1b[2;10r\x1b[>1u\x1b(0\x1b7\x1bc\x1b[4 q'
  const text = `before\x1b[31mred${kept.slice(0, 8)}x\x1b[5;5H${kept.slice(8)}\x1b]52;c;QQ\x07\x1b[m\x1b[1m\x1b[32mend`
  expect(condense([Buffer.from(text)]).toString()).toBe(`${kept}\x1b[m\x1b[1m\x1b[32m`)
})

test('a megabyte of text is nothing', () => {
  expect(condense([Buffer.alloc(1 << 20, 'text\n')]).length).toBe(0)
})
