// Keys and pastes on one side, what terminals send by themselves on the other.
import { expect, test } from 'vitest'
import { TypingReader } from './typing.ts'

const REPORTS = {
  'focus in': '\u001b[I',
  'focus out': '\u001b[O',
  'mouse, SGR': '\u001b[<35;20;11M\u001b[<0;20;11m',
  'mouse, X10': '\u001b[M !!',
  'mouse, urxvt': '\u001b[64;20;11M',
  DA1: '\u001b[?62;22c',
  DA2: '\u001b[>1;10;0c',
  'cursor position': '\u001b[24;80R',
  DECXCPR: '\u001b[?24;80;1R',
  DSR: '\u001b[0n',
  'colour scheme': '\u001b[?997;1n',
  DECRPM: '\u001b[?2026;2$y',
  'window size': '\u001b[4;600;800t',
  'kitty keyboard flags': '\u001b[?7u',
  modifyOtherKeys: '\u001b[>4;2m',
  'background colour, ST': '\u001b]11;rgb:0000/0000/0000\u001b\\',
  'foreground colour, BEL': '\u001b]10;rgb:ffff/ffff/ffff\u0007',
  'OSC 7501': '\u001b]7501;?\u001b\\',
  XTVERSION: '\u001bP>|xterm(388)\u001b\\',
  DECRQSS: '\u001bP1$r0m\u001b\\',
  'kitty graphics': '\u001b_Gi=31;OK\u001b\\',
  'a key let go': '\u001b[13;1:3u\u001b[1;1:3A\u001b[3;1:3~',
}

test.each(Object.entries(REPORTS))('%s is not typed', (_, report) => {
  expect(new TypingReader().read(Buffer.from(report, 'latin1'))).toBe(false)
})

test.each([
  'y',
  '\r',
  '\u001b',
  '\u001b[A',
  '\u001bOB',
  '\u001b[13u',
  '\u001b[27;5;92~',
  '\u001b[200~text\u001b[201~',
  '\u0003',
  'ü',
  '\u001bp',
])('%j is typed', (text) => expect(new TypingReader().read(Buffer.from(text))).toBe(true))

test('a key among reports is typed', () => {
  expect(new TypingReader().read(Buffer.from('\u001b[I\u001b[<0;1;1My\u001b[O'))).toBe(true)
})

test('reports in pieces are still reports; the ESC key alone is not the beginning of one', () => {
  for (const report of Object.values(REPORTS)) {
    if (report.startsWith('\u001b[M')) continue
    for (let cut = 2; cut < report.length; cut += 1) {
      if (report.slice(0, cut).endsWith('\u001b') && !/^\u001b[\]P_]/.test(report)) continue
      const reader = new TypingReader()
      const bytes = Buffer.from(report, 'latin1')
      expect([cut, reader.read(bytes.subarray(0, cut)), reader.read(bytes.subarray(cut))]).toEqual([cut, false, false])
      expect(reader.read(Buffer.from('x'))).toBe(true)
    }
  }
})

test('what follows a paste that ended in the midst of a report belongs to the report', () => {
  const reader = new TypingReader()
  expect(reader.read(Buffer.from(`${'text '.repeat(10_000)}\u001b[24;`))).toBe(true)
  expect(reader.read(Buffer.from('80R'))).toBe(false)
})
