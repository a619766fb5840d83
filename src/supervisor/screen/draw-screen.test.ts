// Drawing a screen: on any other terminal it gives the same screen, cursor and modes, and asks that terminal nothing.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { linkOf, underlineColorOf, underlineStyleOf } from '../../cells/cell.ts'
import { drawScreen } from './draw-screen.ts'
import { type ScreenCell, createEmulator, currentAttributes, type Emulator, marginsOf } from './emulator.ts'
import { followModes, type TerminalModes } from './terminal-modes.ts'

interface Fixture {
  readonly emulator: Emulator
  readonly modes: TerminalModes
  readonly title: () => string
  readonly answers: () => string
  readonly write: (text: string) => Promise<void>
}

function terminal(cols = 20, rows = 6): Fixture {
  const emulator = createEmulator(cols, rows)
  const modes = followModes(emulator)
  let title = ''
  let answers = ''
  emulator.onTitleChange((text) => (title = text))
  emulator.onData((text) => (answers += text))
  return {
    emulator,
    modes,
    title: () => title,
    answers: () => answers,
    write: (text) => new Promise((resolve) => emulator.write(text, resolve)),
  }
}

/** Everything that a person or a program could tell two terminals apart by. */
function picture({ emulator, modes, title }: Fixture) {
  const { active, normal } = emulator.buffer
  const { scrollTop, scrollBottom, savedX, savedY } = marginsOf(emulator, active.type === 'normal' ? 'normal' : 'alt')
  const grid = (buffer: typeof active): string[] =>
    Array.from({ length: emulator.rows * emulator.cols }, (_, i) => {
      const line = buffer.getLine(buffer.baseY + Math.floor(i / emulator.cols))
      const x = i % emulator.cols
      const [before, cell, next] = [x - 1, x, x + 1].map((column) => line?.getCell(column))
      // Half of a wide character without the other is a blank, as terminals show it.
      const isHalf =
        cell?.getWidth() === 2 ? next?.getWidth() !== 0 : cell?.getWidth() === 0 && before?.getWidth() !== 2
      return look(cell, isHalf)
    })
  const look = (cell: ScreenCell | undefined, isHalf: boolean): string => {
    if (cell === undefined) return ''
    const background = `${cell.getBgColorMode()}:${cell.getBgColor()}`
    if (isHalf || (cell.getChars() === '' && cell.getWidth() === 1)) return background
    const flags = [cell.isBold(), cell.isDim(), cell.isItalic(), cell.isBlink(), cell.isInverse(), cell.isInvisible()]
    const more = [
      cell.isStrikethrough(),
      cell.isOverline(),
      underlineStyleOf(cell),
      underlineColorOf(cell),
      linkOf(emulator, cell)?.uri,
    ]
    return [
      cell.getChars(),
      cell.getWidth(),
      background,
      cell.getFgColorMode(),
      cell.getFgColor(),
      ...flags,
      ...more,
    ].join()
  }
  const pen = currentAttributes(emulator)
  // Behind the last column of an empty line (after a switch of screens): no terminal can be brought there.
  const last = active.getLine(active.baseY + active.cursorY)?.getCell(emulator.cols - 1)
  const isHanging = active.cursorX === emulator.cols && last?.getChars() === '' && last.getWidth() === 1
  return {
    active: grid(active),
    normal: grid(normal),
    type: active.type,
    cursor: [isHanging ? emulator.cols - 1 : active.cursorX, active.cursorY],
    margins: [scrollTop, scrollBottom],
    saved: [savedX, savedY],
    pen: [pen.isBold(), pen.isInverse(), pen.getFgColor(), pen.getBgColor(), linkOf(emulator, pen)?.uri],
    modes: emulator.modes,
    privateModes: [...modes.privateModes].sort((a, b) => a - b),
    cursorHidden: modes.isCursorHidden,
    cursorStyle: modes.cursorStyle,
    keyboard: [modes.keyboardFlags, modes.otherKeys],
    title: title(),
  }
}

async function redrawn(source: Fixture, before = ''): Promise<Fixture> {
  const copy = terminal(source.emulator.cols, source.emulator.rows)
  await copy.write(before)
  const drawing = drawScreen(source.emulator, source.modes, source.title())
  await copy.write(drawing)
  return copy
}

test.each([
  ['text and colours', 'plain \x1b[1;31mbold red\x1b[0m \x1b[48;5;200mbg\x1b[K\r\n\x1b[38;2;1;2;3mrgb\x1b[0m'],
  ['hidden cursor and its shape', '\x1b[?25l\x1b[5 q'],
  ['scroll region and origin', '\x1b[2;4r\x1b[?6hx'],
  ['saved cursor', '\x1b[3;5H\x1b7\x1b[1;1Hy'],
  ['a cursor saved after scrolling', `${'\n'.repeat(9)}\x1b[3;5H\x1b7\x1b[1;1Hy`],
  ['modes after a soft reset', '\x1b[?1004h\x1b[?2004h\x1b[?25l\x1b[!p'],
  ['links', '\x1b]8;;https://example.org/\x07here\x1b]8;;\x07 there'],
  ['title', '\x1b]2;my title\x07'],
  ['alternate screen over a main screen', 'main\x1b[?1049h\x1b[2;2Halt\x1b[?25l'],
  ['mouse, paste, focus and keys', '\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?1h\x1b=\x1b[>1u\x1b[>4;2m'],
  ['curly underline in a colour of its own', '\x1b[4:3m\x1b[58:2::9:8:7mx\x1b[0m'],
  ['wide characters and a wrapped line', '日本語'.repeat(6)],
  ['half of a wide character, pushed away or written over', '日本語x\x1b[2G\x1b[2@\r\n\x1b[?7l\x1b[19G日a'],
  ['a line that is full and not wrapped', `${'a'.repeat(20)}\r\nb`],
])('%s come out the same', async (_name, text) => {
  const source = terminal()
  await source.write(text)
  expect(picture(await redrawn(source))).toEqual(picture(source))
})

test('a drawing replaces whatever was on the terminal before', async () => {
  const source = terminal()
  await source.write('only this')
  const copy = await redrawn(source, '\x1b[?1049h\x1b[?1003h\x1b[?25l\x1b[2;3r\x1b[7mold\x1b[4h')
  expect(picture(copy)).toEqual(picture(source))
})

test('queries are never in a drawing, and control characters never leave a title or a link', async () => {
  const source = terminal()
  await source.write(
    '\x1b[c\x1b[6n\x1b]11;?\x07\x1b[>q\x1bP+q544e\x1b\\\x1b]2;a\x9cb\x07\x1b]8;;http://x/\x01y\x07l\x1b]8;;\x07',
  )
  const copy = await redrawn(source)
  expect(source.answers()).not.toBe('')
  expect(copy.answers()).toBe('')
})

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ -~]{1,30}$/) },
  fc.constantFrom(
    '\r\n',
    '\n',
    '\r',
    '\b',
    '\t',
    '日本',
    'é',
    '\x1b7',
    '\x1b8',
    '\x1bM',
    '\x1bD',
    '\x1b=',
    '\x1b>',
    '\x1b[K',
    '\x1b[2J',
    '\x1b[m',
  ),
  fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 22 })).map(([r, c]) => `\x1b[${r};${c}H`),
  fc.constantFrom(1, 2, 3, 4, 7, 9, 21, 22, 27, 31, 42, 93, 104, 39, 49, 0).map((n) => `\x1b[${n}m`),
  fc
    .constantFrom(1, 6, 25, 1_000, 1_002, 1_006, 1_004, 2_004, 1_049)
    .chain((n) => fc.constantFrom(`\x1b[?${n}h`, `\x1b[?${n}l`)),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 6 })).map(([a, b]) => `\x1b[${a};${b}r`),
  fc.constantFrom(
    '\x1b[2L',
    '\x1b[M',
    '\x1b[3P',
    '\x1b[2@',
    '\x1b[2X',
    '\x1b[2S',
    '\x1b[T',
    '\x1b[3 q',
    '\x1b[!p',
    '\x1b]8;;http://l/\x07',
    '\x1b]8;;\x07',
  ),
)

test('any screen comes out the same on a fresh terminal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const source = terminal()
      await source.write(pieces.join(''))
      expect(picture(await redrawn(source))).toEqual(picture(source))
    }),
    { numRuns: scaled(25, 2_000) },
  )
})
