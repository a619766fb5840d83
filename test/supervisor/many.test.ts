// Many sessions with several clients each for a while: nothing lost, memory flat.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scaled } from '../support/scale.ts'
import { sh, start } from './support/session.ts'

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Numbered lines with colours at a steady pace, until it is told to stop. */
const STEADY =
  'i=0; while :; do i=$((i+1)); printf "\\033[3%dm%08d some text that goes on a little\\033[0m\\n" $((i%8)) $i; [ $((i%50)) = 0 ] && sleep 0.01; done'

test('sessions with three clients each: every client sees every line, and memory does not grow', async () => {
  const sessions = await Promise.all(
    Array.from({ length: scaled(3, 50) }, (_, n) => start(sh(STEADY), { id: `many-${n}` })),
  )
  const watched = await Promise.all(
    sessions.map(async (session) => {
      const clients = await Promise.all([session.connect(), session.connect(), session.connect()])
      const jumps: string[] = []
      for (const client of clients) {
        let rest = ''
        let last = 0
        client.onOutput = (bytes) => {
          const lines = (rest + bytes.toString('latin1')).split('\r\n')
          rest = lines.pop() ?? ''
          for (const line of lines) {
            const n = Number(/(\d{8}) some/.exec(line)?.[1])
            if (last !== 0 && n !== last + 1) jumps.push(`${last} to ${n}`)
            last = n
          }
        }
        client.subscribe()
      }
      return { session, clients, jumps }
    }),
  )
  const runFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  await runFor(scaled(3_000, 20_000))
  const before = watched.map(({ session }) => residentKb(session.supervisor_pid))
  await runFor(scaled(3_000, 40_000))
  const growth = watched.map(({ session }, n) => residentKb(session.supervisor_pid) - (before[n] ?? 0))
  expect(watched.flatMap(({ jumps }) => jumps)).toEqual([])
  for (const { clients } of watched) for (const client of clients) expect(client.outputBytes).toBeGreaterThan(10_000)
  // The log of output fills up to its bound once; beyond that and the garbage of a young process nothing may be added.
  expect(Math.max(...growth)).toBeLessThan(24 << 10)
})
