// A turn that was stopped at its budget or its turns, and could go on: kept open for a while, until somebody gives it more.
import { createInterface } from 'node:readline'
import type { Clock } from '../../clock.ts'
import type { Stopped } from '../../coordination/dispatched.ts'
import { removeIfThere } from '../../storage/atomic-file.ts'
import { readJsonIfThere, writePrivate } from '../json-file.ts'
import { tokensIn } from '../more-tokens.ts'
import type { TaskResult } from '../messages.ts'
import { type Order, stoppedPath } from './order.ts'

export interface Pause {
  readonly question: string
  readonly partial: Stopped
}

/** What the task that runs in this folder waits for; nothing while it runs. */
export const pauseIn = (dir: string): Pause | undefined => readJsonIfThere(stoppedPath(dir)) as Pause | undefined

export interface TaskTerminal {
  readonly clock: Clock
  readonly say: (text: string) => void
  /** Lines that are typed into the session of the task. */
  readonly lines: (signal: AbortSignal) => AsyncIterable<string>
}

/** What somebody says to it; nothing when its time is over. */
export async function untilMore(
  dir: string,
  { resumeMs, deadlineMs }: Order,
  result: TaskResult,
  needs: Stopped['needs'],
  { clock, say, lines }: TaskTerminal,
): Promise<string | undefined> {
  const nowMs = clock.wallMs()
  const leftMs = Math.min(resumeMs ?? 0, deadlineMs === null ? Infinity : deadlineMs - nowMs)
  if (leftMs <= 0) return undefined
  const resumeBy = new Date(nowMs + leftMs).toISOString()
  const [why = 'stopped'] = result.remaining
  const question = `${why}. ${needs === 'tokens' ? 'How many more tokens may it take?' : 'Shall it go on?'} (until ${resumeBy})`
  const pause: Pause = { question, partial: { resume_by: resumeBy, needs, result } }
  writePrivate(stoppedPath(dir), JSON.stringify(pause))
  const over = new AbortController()
  const timer = clock.after(leftMs, () => over.abort())
  try {
    say(`${question}\n${status(`blocked:kind=question:msg=${Buffer.from(question).toString('base64')}`)}`)
    for await (const line of lines(over.signal)) {
      if (line.trim() === '') continue
      if (needs === 'words' || tokensIn(line) !== undefined) return line
      say('A whole number is needed, such as 4000.\n')
    }
    return undefined
  } finally {
    timer.cancel()
    over.abort()
    removeIfThere(stoppedPath(dir))
    say(status('working'))
  }
}

/** OSC 7501: what a program says of itself to its terminal. */
const status = (state: string): string => `\u001B]7501;state=${state}\u001B\\`

/** Of a terminal, as long as the signal lets. */
export async function* terminalLines(input: NodeJS.ReadableStream, signal: AbortSignal): AsyncIterable<string> {
  const lines = createInterface({ input, signal })
  try {
    yield* lines
  } finally {
    lines.close()
    // A terminal that is still read would keep the process.
    input.pause()
  }
}
