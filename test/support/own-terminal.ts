// A terminal below init, as a person's is: whoever runs the tests, an agent perhaps, is not above what runs in it.
import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { onTestFinished } from './cleanup.ts'
import { fixture } from './programs.ts'
import { until } from './wait.ts'

export interface OwnTerminal {
  /** Everything that the program wrote to the terminal. */
  written(): string
  see(what: string): Promise<void>
  type(text: string): void
  /** As closing its window. */
  close(): void
  /** Resolves with the exit code, 128 + n after signal n. */
  readonly ended: Promise<number>
}

interface Start {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Environment of the terminal itself, where it is not bare. */
  readonly hostEnv?: Readonly<Record<string, string>>
}

/** The command line that starts a terminal and leaves it to init; it types what comes on fd 4 and says its exit code on fd 3. */
export const leavingTerminal = (command: readonly string[], { cwd, env }: Start): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  '"$@" <&4 &',
  'sh',
  ...fixture('own-terminal'),
  JSON.stringify({ command, cwd, env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env } }),
]

export function ownTerminal(command: readonly string[], start: Start): OwnTerminal {
  const [file, ...args] = leavingTerminal(command, start)
  const child = spawn(file, args, {
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...start.hostEnv },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
    detached: true,
  })
  const [, output, , code, keyboard] = child.stdio as [null, Readable, null, Readable, Writable]
  let written = ''
  output.setEncoding('utf8').on('data', (more: string) => (written += more))
  const ended = Promise.all([text(code), new Promise((resolve) => child.once('close', resolve))]).then(([ending]) =>
    Number(ending === '' ? NaN : ending),
  )
  onTestFinished(async () => {
    // The terminal goes with its input, and its program with the terminal.
    keyboard.destroy()
    await ended
  })
  return {
    written: () => written,
    see: async (what) =>
      void (await until(`the terminal to show ${what}`, () => written.includes(what), { context: () => written })),
    type: (typed) => void keyboard.write(typed),
    close: () => void keyboard.destroy(),
    ended,
  }
}
