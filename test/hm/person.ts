// A person at a terminal: a real pty with a program in it, and a screen to look at what the program drew.
import xterm from '@xterm/headless'
import { onTestFinished } from 'vitest'
import { openPty } from '../../src/supervisor/pty.ts'
import { launcher } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { endProcess, type Hm } from './hm.ts'

export interface Person {
  readonly pid: number
  /** Rows of the screen without blanks at their ends. */
  rows(): string[]
  screen(): string
  cursor(): { x: number; y: number }
  isAlternate(): boolean
  /** Everything that the program wrote to the terminal. */
  written(): string
  /** Resolves when the screen matches; a timeout shows the screen. */
  see(what: RegExp | string): Promise<void>
  /** What the terminal has said to the program by itself. */
  answered(): string
  type(text: string): void
  resize(cols: number, rows: number): void
  /** Resolves with the exit code, 128 + n after signal n. */
  readonly ended: Promise<number>
}

export interface TerminalOptions {
  /** The launcher to type, `hm` unless said otherwise. */
  readonly bin?: string
  readonly cols?: number
  readonly rows?: number
  readonly extraEnv?: Readonly<Record<string, string>>
  /** Answers what it is asked, as terminals do; a text is what it says of itself when asked for its attributes. */
  readonly answers?: boolean | string
  /** Of its text and its background, as it says them when asked. */
  readonly colors?: readonly [string, string]
}

/** Sits down at a terminal in `home` and types `hm …`. */
export function atTerminal(
  { env, home }: Pick<Hm, 'env' | 'home'>,
  args: readonly string[],
  { bin = 'hm', cols = 80, rows = 24, extraEnv = {}, answers = false, colors }: TerminalOptions = {},
): Person {
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 2_000 })
  const written: Buffer[] = []
  const room = Buffer.alloc(64 << 10)
  let finish: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    finish = resolve
  })
  let hasEnded = false
  const pty = openPty(
    {
      command: [...launcher(bin), ...args],
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...env, ...extraEnv },
      cols,
      rows,
    },
    {
      room: () => room,
      read(bytes) {
        const chunk = Buffer.from(room.subarray(0, bytes))
        written.push(chunk)
        terminal.write(chunk)
      },
      ended(code, signal) {
        hasEnded = true
        terminal.write('', () => finish(signal > 0 ? 128 + signal : code))
        pty.close()
      },
    },
  )
  let answered = ''
  const answer = (text: string): void => {
    answered += text
    pty.write(Buffer.from(text))
  }
  if (answers !== false) terminal.onData(answer)
  if (typeof answers === 'string')
    terminal.parser.registerCsiHandler({ final: 'c' }, () => {
      answer(answers)
      return true
    })
  for (const [n, color] of (colors ?? []).entries())
    terminal.parser.registerOscHandler(10 + n, (asked) => {
      if (asked === '?') answer(`\u001b]${10 + n};${color}\u001b\\`)
      return true
    })
  onTestFinished(async () => {
    if (!hasEnded) endProcess(pty.child.pid)
    await ended
  })
  const screenRows = (): string[] => {
    const buffer = terminal.buffer.active
    return Array.from(
      { length: terminal.rows },
      (_, y) => buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? '',
    )
  }
  const screen = (): string => screenRows().join('\n')
  return {
    pid: pty.child.pid,
    rows: screenRows,
    screen,
    cursor: () => ({ x: terminal.buffer.active.cursorX, y: terminal.buffer.active.cursorY }),
    isAlternate: () => terminal.buffer.active.type === 'alternate',
    written: () => Buffer.concat(written).toString(),
    answered: () => answered,
    async see(what) {
      const matches = (): boolean => (typeof what === 'string' ? screen().includes(what) : what.test(screen()))
      await until(`the screen to show ${String(what)}`, matches, { context: screen })
    },
    type: (text) => void pty.write(Buffer.from(text)),
    resize(newCols, newRows) {
      terminal.resize(newCols, newRows)
      pty.resize(newCols, newRows)
    },
    ended,
  }
}
