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

test('a long question is kept whole, and so are colours that the program sets', () => {
  const question = `\x1b]4;${Array.from({ length: 16 }, (_, n) => `${n};?`).join(';')}\x1b\\`
  const palette = `\x1b]4;${Array.from({ length: 256 }, (_, n) => `${n};rgb:1111/2222/3333`).join(';')}\x07`
  const kept = `\x1bP$qm\x1b\\\x1b]11;#336699\x07${question}${palette}\x1b]104;1;2\x07\x1b]104\x07\x1b]110\x1b\\`
  expect(condense([Buffer.from(`a${kept.slice(0, 7)}b${kept.slice(7)}c\x1b]0;title\x07`)]).toString()).toBe(kept)
})
