// The parts of an attached view: the detach key, the status line, and drawing that is the same as what was drawn from.
import * as fc from 'fast-check'
import type { IBufferLine, Terminal } from '@xterm/headless'
import { describe, expect, test } from 'vitest'
import { scaled } from '../../../test/support/scale.ts'
import { linkOf, underlineColorOf, underlineStyleOf } from '../../cells/cell.ts'
import { columnAt, drawnColumn } from '../../cells/clusters.ts'
import { SHOWS_ALL } from '../../cells/pen.ts'
import { createTerminal } from '../../cells/terminal.ts'
import { widthOf, widthVersion } from '../../cells/widths.ts'
import { ViewEmulator, type TerminalRequests } from './emulator.ts'
import { Painter } from './screen-frames.ts'
import { keyName, type StatusLine, statusLine } from './status-line.ts'
import { DetachKey } from './view-keys.ts'

const ESC = '\u001b'

describe('detach key', () => {
  const take = (byte: number, ...chunks: string[]): { sent: string; isDetach: boolean } => {
    const key = new DetachKey(byte)
    let sent = ''
    for (const chunk of chunks) {
      const { bytes, isDetach } = key.take(Buffer.from(chunk, 'latin1'))
      sent += bytes.toString('latin1')
      if (isDetach) return { sent, isDetach }
    }
    return { sent, isDetach: false }
  }

  test('is found alone, and among other keys of one read', () => {
    expect(take(28, '\u001c')).toEqual({ sent: '', isDetach: true })
    expect(take(28, 'ab\u001ccd')).toEqual({ sent: 'ab', isDetach: true })
    expect(take(28, 'abc')).toEqual({ sent: 'abc', isDetach: false })
  })

  test('is text inside a paste, also when the paste comes in pieces', () => {
    expect(take(28, `${ESC}[200~a\u001cb${ESC}[201~`).isDetach).toBe(false)
    expect(take(28, `${ESC}[20`, `0~a\u001c`, `${ESC}[201`, '~').isDetach).toBe(false)
    expect(take(28, `${ESC}[200~a${ESC}[201~\u001c`).isDetach).toBe(true)
  })

  test('is known in the form of the kitty keyboard protocol, with or without lock keys, pressed and not released', () => {
    expect(take(28, `x${ESC}[92;5u`)).toEqual({ sent: 'x', isDetach: true })
    expect(take(28, `${ESC}[92;69:1u`).isDetach).toBe(true)
    expect(take(28, `${ESC}[92;5:3u`).isDetach).toBe(false)
    expect(take(28, `${ESC}[92;1u`).isDetach).toBe(false)
    expect(take(1, `${ESC}[97;5u`).isDetach).toBe(true)
  })

  test('is known in the form of modifyOtherKeys, whole and in pieces, with Control alone', () => {
    expect(take(28, `x${ESC}[27;5;92~`)).toEqual({ sent: 'x', isDetach: true })
    expect(take(28, `${ESC}[27;`, '5;92~').isDetach).toBe(true)
    expect(take(28, `${ESC}[27;6;92~`).isDetach).toBe(false)
    expect(take(28, `${ESC}[27;5;93~`).isDetach).toBe(false)
    expect(take(28, `${ESC}[200~${ESC}[27;5;92~${ESC}[201~`).isDetach).toBe(false)
    expect(take(1, `${ESC}[27;5;97~`).isDetach).toBe(true)
  })

  test('0 turns it off', () => {
    expect(take(0, '\u0000\u001c')).toEqual({ sent: '\u0000\u001c', isDetach: false })
    expect([keyName(28), keyName(1), keyName(0)]).toEqual(['Ctrl-\\', 'Ctrl-A', undefined])
  })
})

describe('status line', () => {
  const line: StatusLine = {
    id: 'build',
    state: { state: 'active', needs_input: { value: false, source: 'none', evidence: null } },
    stateMs: 65_000,
    isReadOnly: false,
    otherSize: undefined,
    detachKey: 'Ctrl-\\',
    hasColor: true,
  }
  const plain = (text: string): string => text.replaceAll(/\u001b\[[\d;]*m/g, '')

  test('says which session, what it does and how to leave', () => {
    expect(plain(statusLine(line, 60))).toBe(' [hm] build  active 1m05s                   Ctrl-\\ detaches ')
  })

  test('on 40 columns the key that detaches is still shown', () => {
    const waiting = { value: true, source: 'osc', evidence: 'Which currency?' }
    const state = { state: 'idle' as const, needs_input: waiting }
    expect(plain(statusLine({ ...line, id: 'amber-otter-with-a-long-name', state }, 40))).toMatch(/Ctrl-\\ $/)
    expect(plain(statusLine({ ...line, id: 'amber-otter-with-a-long-name', state, stateMs: 5_000_000 }, 40))).toMatch(
      /Ctrl-\\ $/,
    )
    expect(plain(statusLine({ ...line, id: 'amber-otter' }, 40))).toMatch(/Ctrl-\\( detaches)? $/)
  })

  test('needs input comes before the state, with the evidence and nothing that a terminal obeys', () => {
    const waiting = { value: true, source: 'osc', evidence: `Allow${ESC}[2J\u202e?\nnow` }
    const text = statusLine({ ...line, state: { state: 'idle', needs_input: waiting } }, 80)
    expect(plain(text)).toContain(' needs input (Allow? now) 1m05s ')
  })

  test('is exactly as wide as the terminal, however narrow', () => {
    const waiting = { value: true, source: 'osc', evidence: 'ein 日本語 text' }
    for (let cols = 1; cols < 120; cols += 1)
      for (const state of [line.state, { state: 'idle' as const, needs_input: waiting }]) {
        const text = plain(statusLine({ ...line, state, isReadOnly: true, otherSize: '220x50' }, cols))
        const columns = [...new Intl.Segmenter().segment(text)].reduce(
          (sum, { segment }) => sum + ((segment.codePointAt(0) ?? 0) >= 0x2e80 ? 2 : 1),
          0,
        )
        expect(columns, `${cols}: ${text}`).toBe(cols)
      }
  })
})

/** Every character by itself, as by the C library's wcwidth; only what has no width joins what is before it. */
function apart(code: number, before: number): number {
  const width = widthOf(code)
  return width === 0 ? (before & 6) | 1 : width << 1
}

const none: TerminalRequests = { mode: () => undefined, show: () => undefined }

const written = (terminal: Terminal, text: string): Promise<void> =>
  new Promise((resolve) => {
    terminal.write(text, resolve)
  })

/** What stands in each column: half of a wide character without the other, and a mark without a character, are blanks, as terminals show them. */
function columnsOf(line: IBufferLine | undefined, cols: number): { readonly chars: string; readonly width: number }[] {
  const widths = Array.from({ length: cols }, (_, x) => line?.getCell(x)?.getWidth() ?? 1)
  return widths.map((width, x) => {
    const own = line?.getCell(x)?.getChars() ?? ''
    const isHalf = width === 2 ? widths[x + 1] !== 0 : width === 0 && widths[x - 1] !== 2
    const isAlone = isHalf || (width === 1 && own !== '' && widthOf(own.codePointAt(0) ?? 0) === 0)
    const chars = isAlone ? '' : own
    return { chars: chars === '' ? ' ' : chars, width: isAlone ? 1 : width }
  })
}

/** Each cell with its style. */
function cellsOf(terminal: Terminal, rows: number, cols: number): string[] {
  const buffer = terminal.buffer.active
  const cell = buffer.getNullCell()
  return Array.from({ length: rows }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + y)
    return columnsOf(line, cols)
      .map(({ chars, width }, x) => {
        line?.getCell(x, cell)
        const style = [cell.isBold(), cell.isDim(), cell.isItalic(), cell.isInverse()].map(Boolean)
        const link = linkOf(terminal, cell)?.uri
        const isBlank =
          chars === ' ' && underlineStyleOf(cell) === 0 && !cell.isInverse() && cell.isBgDefault() && link === undefined
        return isBlank
          ? ' '
          : JSON.stringify([
              chars,
              width,
              style,
              cell.getFgColorMode(),
              cell.getFgColor(),
              cell.getBgColorMode(),
              cell.getBgColor(),
              underlineStyleOf(cell),
              underlineColorOf(cell),
              link,
            ])
      })
      .join('')
  })
}

describe('drawing', () => {
  const piece = fc.oneof(
    fc.string({
      unit: fc.constantFrom('a', 'Z', ' ', '日', 'é', '🙂', '👩‍💻', '👋🏽', '👩🏽‍💻', '❤️', '🇩🇪', '\r', '\n', '\t'),
      maxLength: 12,
    }),
    fc.tuple(fc.nat(60), fc.nat(255)).map(([a, b]) => `${ESC}[${a};38;5;${b}m`),
    fc.tuple(fc.nat(5), fc.nat(255)).map(([style, color]) => `${ESC}[4:${style};58:5:${color}m`),
    fc.constantFrom(
      `${ESC}[58:2::1:2:3m`,
      `${ESC}]8;;http://x/a\u0007`,
      `${ESC}]8;id=n;http://y/b\u0007`,
      `${ESC}]8;;\u0007`,
    ),
    fc.tuple(fc.nat(255), fc.nat(255)).map(([r, g]) => `${ESC}[48;2;${r};${g};7m`),
    fc.tuple(fc.nat(14), fc.nat(24)).map(([y, x]) => `${ESC}[${y};${x}H`),
    fc.constantFrom(`${ESC}[0m`, `${ESC}[1;4m`, `${ESC}[7m`, `${ESC}[2J`, `${ESC}[K`, `${ESC}[?1049h`, `${ESC}[?1049l`),
    fc.constantFrom(
      `${ESC}[2;8r`,
      `${ESC}M`,
      `${ESC}D`,
      `${ESC}[3L`,
      `${ESC}[2P`,
      `${ESC}[4@`,
      `${ESC}7`,
      `${ESC}8`,
      `${ESC}c`,
    ),
  )

  test('whatever a program draws, the painted terminal shows the same cells, frame after frame', async () => {
    const [cols, rows] = [24, 12]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(piece, { maxLength: 12 }), { maxLength: 4 }), async (frames) => {
        const emulator = new ViewEmulator({ cols, rows }, none)
        const outer = createTerminal({ cols, rows: rows + 1 })
        const painter = new Painter()
        for (const pieces of frames) {
          await emulator.write(Buffer.from(pieces.join('')))
          const lines = emulator
            .draw({ start: 0, count: rows, left: 0, cols, ground: 'used', shows: SHOWS_ALL })
            .map(({ text, width }) => (width < cols ? `${text}${ESC}[K` : text))
          await written(outer, painter.paint({ lines: [...lines, 'status'], cursor: { x: 0, y: 0 } }))
          expect(cellsOf(outer, rows, cols)).toEqual(cellsOf(emulator.terminal, rows, cols))
          expect(outer.buffer.active.getLine(rows)?.translateToString(true)).toBe('status')
        }
      }),
      // Half a wide character, written over: a blank that is underlined and struck through, which is still to be drawn.
      {
        numRuns: scaled(30, 5_000),
        examples: [[[[`${ESC}[4:1;58:5:0m`, `${ESC}[9;38;5;0m`, 'a🙂', '\r❤️']]]],
      },
    )
  })

  /** The first row, drawn for and shown by a terminal that takes characters of several code points for several. */
  const drawnApart = async (emulator: ViewEmulator, cols: number) => {
    const shows = { ...SHOWS_ALL, clusters: { skin: 2, joined: 2, flag: 0 } }
    const [drawn] = emulator.draw({ start: 0, count: 1, left: 0, cols, ground: 'used', shows })
    const outer = createTerminal({ cols, rows: 1 })
    outer.unicode.register({ ...widthVersion, version: 'apart', charProperties: apart })
    outer.unicode.activeVersion = 'apart'
    await written(outer, `${ESC}[?7l${drawn?.text ?? ''}`)
    return { drawn, shown: outer.buffer.active.getLine(0) }
  }

  test('a terminal that takes one character for several: none is drawn over, and what is behind them is where it is said to be', async () => {
    // Room for all: the widest of them takes six columns in place of two.
    const [cols, session] = [60, 20]
    const parts = fc.constantFrom('a', 'b', ' ', '   ', '|', '日', 'é', '🙂', '👩‍💻', '👋🏽', '👩🏽‍💻', '🇩🇪')
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 12 }), async (written20) => {
        const emulator = new ViewEmulator({ cols: session, rows: 1 }, none)
        await emulator.write(Buffer.from(`${ESC}[?7l${written20.join('')}`))
        const { drawn, shown } = await drawnApart(emulator, cols)
        const columns = columnsOf(emulator.screen.getLine(0), session)
        const textOf = (row: typeof columns): string => row.map(({ chars }) => chars.trim()).join('')
        expect(textOf(columnsOf(shown, cols))).toBe(textOf(columns))
        for (const [x, { chars }] of columns.entries()) {
          if (chars.trim() === '') continue
          const column = drawnColumn(drawn?.shifts ?? [], x)
          const there = shown?.getCell(column)?.getChars() ?? ''
          expect(there !== '' && chars.startsWith(there), `${x} is at ${column}`).toBe(true)
          expect(columnAt(drawn?.shifts ?? [], column)).toBe(x)
        }
      }),
      { numRuns: scaled(60, 5_000) },
    )
  })

  test('a terminal that takes one character for several and has no room for all shows the first part of the last', async () => {
    const emulator = new ViewEmulator({ cols: 20, rows: 1 }, none)
    await emulator.write(Buffer.from('👩🏽‍💻'.repeat(7)))
    const { drawn, shown } = await drawnApart(emulator, 40)
    expect(shown?.translateToString().trimEnd()).toBe(`${'👩🏽‍💻'.repeat(6)}👩`)
    expect(drawn?.width).toBe(40)
  })

  test('half of a wide character is a blank: pushed away, written over at the edge, or a mark with nothing to stand on', async () => {
    const shown = async (output: string): Promise<string[]> => {
      const emulator = new ViewEmulator({ cols: 24, rows: 1 }, none)
      await emulator.write(Buffer.from(output))
      const outer = createTerminal({ cols: 24, rows: 1 })
      const [line] = emulator.draw({ start: 0, count: 1, left: 0, cols: 24, ground: 'used', shows: SHOWS_ALL })
      await written(outer, line?.text ?? '')
      expect(cellsOf(outer, 1, 24)).toEqual(cellsOf(emulator.terminal, 1, 24))
      return columnsOf(outer.buffer.active.getLine(0), 24).map(({ chars, width }) => (width === 0 ? '' : chars))
    }
    const text = async (output: string): Promise<string> => (await shown(output)).join('').trimEnd()
    expect(await text(`ABC日本XY${ESC}[5G${ESC}[4@`)).toBe(`ABC${' '.repeat(6)}本XY`)
    expect(await text(`${ESC}[18G${ESC}[7m日日日${ESC}[19G${ESC}[4@`)).toBe('')
    expect(await text(`${ESC}[?7l${ESC}[23G日a`)).toBe(`${' '.repeat(23)}a`)
    expect(await text('\u0301')).toBe('')
    // The second half of the last one is deleted, and a mark written there.
    expect(await text(`${'a'.repeat(22)}日${ESC}[P\u0301`)).toBe('a'.repeat(22))
  })

  test('a terminal narrower than the session never wraps, also where the edge cuts a wide character', async () => {
    const emulator = new ViewEmulator({ cols: 20, rows: 2 }, none)
    await emulator.write(Buffer.from('a日本語日本語日\r\nsecond'))
    for (let cols = 1; cols < 20; cols += 1) {
      const outer = createTerminal({ cols, rows: 3 })
      const rows = { start: 0, count: 2, left: 0, cols, ground: 'used', shows: SHOWS_ALL } as const
      const lines = emulator.draw(rows).map(({ text }) => text)
      await written(outer, new Painter().paint({ lines: [...lines, ''], cursor: undefined }))
      expect(outer.buffer.active.getLine(1)?.translateToString(true)).toBe('second'.slice(0, cols))
      expect(outer.buffer.active.getLine(2)?.translateToString(true)).toBe('')
    }
  })

  test('a frame that shows the same sends nothing', () => {
    const painter = new Painter()
    const frame = { lines: ['a', 'b'], cursor: { x: 1, y: 0 } }
    expect(painter.paint(frame)).not.toBe('')
    expect(painter.paint(frame)).toBe('')
    expect(painter.paint({ ...frame, lines: ['a', 'c'] })).toContain('[2;1Hc')
    painter.forget()
    expect(painter.paint(frame)).toContain('[2J')
  })
})

describe('wishes of the program', () => {
  const collect = async (output: string): Promise<Record<keyof TerminalRequests, string>> => {
    const seen = { mode: '', show: '' }
    const emulator = new ViewEmulator(
      { cols: 10, rows: 5 },
      {
        mode: (text) => (seen.mode += text),
        show: (text) => (seen.show += text),
      },
    )
    await emulator.write(Buffer.from(output))
    return seen
  }

  test('modes of focus, paste and keys go to the terminal once, and back when the program resets', async () => {
    const { mode } = await collect(
      `${ESC}[?1000;1006h${ESC}[?1004h${ESC}[?2004h${ESC}[?2004h${ESC}[?1049h${ESC}[>5u${ESC}c`,
    )
    expect(mode).toBe(`${ESC}[?1004h${ESC}[?2004h${ESC}[>5u${ESC}[?1004l${ESC}[?2004l`)
    expect((await collect(`${ESC}[?2004h${ESC}[!p`)).mode).toBe(`${ESC}[?2004h${ESC}[?2004l`)
  })

  test('of the modes of the mouse the last one counts, and switching off any switches off all', async () => {
    const emulator = new ViewEmulator({ cols: 10, rows: 5 }, none)
    const after = async (output: string): Promise<unknown> => {
      await emulator.write(Buffer.from(output))
      return emulator.mouse
    }
    expect(await after(`${ESC}[?1000;1002;1006h`)).toEqual({ tracking: 1_002, form: 1_006 })
    expect(await after(`${ESC}[?1000h${ESC}[?1006l`)).toEqual({ tracking: 1_000, form: undefined })
    expect(await after(`${ESC}[?1003l`)).toEqual({ tracking: undefined, form: undefined })
  })

  test('titles and notifications are shown as text; the clipboard may be written, never read', async () => {
    const { show } = await collect(
      `${ESC}]0;ti\u0001tle\u0007${ESC}]9;done\u0007${ESC}]52;c;aGk=\u0007${ESC}]52;c;?\u0007${ESC}]8;;http://x\u0007${ESC}[4 q`,
    )
    expect(show).toBe(`${ESC}]2;title\u0007${ESC}]9;done\u0007${ESC}]52;c;aGk=\u0007${ESC}[4 q`)
  })

  test('questions go nowhere: the session answers them, whoever watches', async () => {
    const { mode, show } = await collect(`ab${ESC}[c${ESC}]11;?\u0007${ESC}[?u${ESC}[6n${ESC}[>q`)
    expect(mode + show).toBe('')
  })
})
