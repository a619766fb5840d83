// One budget, twenty shims of one run: restarts, kills, reloads and steps of the clock let no call more pass, and none less.
// The judges are the servers' own books.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import {
  bundle,
  eventsOfRun,
  type Json,
  ofType,
  parseLines,
  rule,
  segmentsOf,
  startShim,
  toolCall,
} from '../support/shim-client.ts'
import type { ShimClient } from '../support/shim-client.ts'
import { steppedWall } from '../support/stepped-wall.ts'
import { until } from '../support/wait.ts'

const SHIMS = 20
const CALLS = 10
const DAY = 86_400_000

interface Seat {
  shim: ShimClient
  /** What its server got is appended here, by `tee`, which answers nothing that closes a call. */
  readonly book: string
  sent: number
}

test('a budget over restarts, crashes, reloads and clock steps, by twenty shims of one run', async () => {
  const home = temporaryFolder()
  const folder = temporaryFolder()
  const policyPath = join(folder, 'policy.json')
  const wall = steppedWall()
  const rounds = scaled(2, 12)
  const limit = SHIMS * CALLS * (rounds - 1) + 37
  const usePolicy = (message: string): void =>
    writeFileSync(
      policyPath,
      JSON.stringify(
        bundle(
          [rule('all', 'budget', {}, { message, budget: { scope: 'run', limit_calls: limit, on_exceed: 'BLOCK' } })],
          {
            mode: 'control',
          },
        ),
      ),
    )
  usePolicy('round 0')
  const start = (n: number): ShimClient =>
    startShim({
      home,
      name: `server-${n}`,
      bin: 'heimdall',
      ownProcess: true,
      server: ['tee', '-a', join(folder, `book-${n}`)],
      flags: [`--policy=${policyPath}`],
      env: { SUB_RUN_ID: 'r', HEIMDALL_RUN_QUIET_SECONDS: '300', ...wall.env },
    })
  const seats = Array.from({ length: SHIMS }, (_, n): Seat => ({
    shim: start(n),
    book: join(folder, `book-${n}`),
    sent: 0,
  }))
  const received = ({ book }: Seat): Json[] => (existsSync(book) ? parseLines(readFileSync(book, 'utf8')) : [])
  const refused = ({ shim }: Seat): number =>
    parseLines(shim.program.stdout()).filter((message) => message['error'] !== undefined).length
  for (let round = 0; round < rounds; round += 1) {
    const before = seats.map((seat) => received(seat).length + refused(seat))
    for (const [n, seat] of seats.entries())
      for (let i = 0; i < CALLS; i += 1)
        seat.shim.send(toolCall((seat.sent += 1), 'spend', { n: n * 10_000 + seat.sent }))
    await until('every call to be sent on or refused', () =>
      seats.every((seat, n) => received(seat).length + refused(seat) === (before[n] ?? 0) + CALLS),
    )
    if (round === rounds - 1) break
    wall.step((round % 2 === 0 ? -1 : 1) * (30 + round) * DAY)
    usePolicy(`round ${round + 1}`)
    const leave = async (seat: Seat, n: number): Promise<void> => {
      if (n % 3 === 2) return
      if (n % 3 === 0) seat.shim.program.kill('SIGKILL')
      else seat.shim.program.stdin.end()
      await seat.shim.program.ended
      seat.shim = start(n)
    }
    await Promise.all(seats.map(leave))
  }
  const got = seats.flatMap((seat) => received(seat).map((message) => message['params'].arguments.n as number))
  expect(got).toHaveLength(limit)
  await Promise.all(seats.map(({ shim }) => shim.end()))
  const events = eventsOfRun(home, 'r')
  expect(segmentsOf(events)).toHaveLength(1)
  const asked = new Map(
    ofType(events, 'tool_call_start').map(({ call }) => [
      call.call_id as string,
      (JSON.parse(call.preview.args_preview as string) as { n: number }).n,
    ]),
  )
  const allowed = ofType(events, 'tool_call_decision').filter(({ decision }) => decision.action === 'ALLOW')
  const numbers = allowed.map(({ call }) => asked.get(call.call_id as string) ?? -1)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(got.toSorted((a, b) => a - b))
  const seqs = ofType(events, 'tool_call_start').map(({ call }) => call.seq as number)
  expect(seqs).toEqual(seqs.map((_, i) => i + 1))
})
