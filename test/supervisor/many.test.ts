// Many sessions with several clients each, and clients that do not read: nothing lost, nothing piled up.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { scaled } from '../support/scale.ts'
import { sh, start } from './support/session.ts'

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Numbered lines with colours at a steady pace, until it is told to stop. */
const STEADY = `i=0; while :; do i=$((i+1)); printf '\\033[3%dm%08d some ${'text '.repeat(60)}\\033[0m\\n' $((i%8)) $i; [ $((i%500)) = 0 ] && sleep 0.01; done`

/** The log of output and the heap are full by then; what comes after may add nothing to them. */
const WARM_BYTES = scaled(3 << 20, 16 << 20)
const SEEN_BYTES = scaled(2 << 20, 24 << 20)

const CHANGES = scaled(2_000, 250_000)

/** What a change of the title is on the terminal: `ESC ] 2 ;`, eight digits, a space, the filling, BEL. */
const TITLE_BYTES = 4 + 8 + 1 + 180 + 1

test('sessions with three clients each: every client sees every line, and memory does not grow', async () => {
  const sessions = await Promise.all(
    Array.from({ length: scaled(3, 50) }, (_, n) => start(sh(STEADY), { id: `many-${n}`, stallMs: 60_000 })),
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
            // Replay may begin inside a line.
            if (last === 0 && Number.isNaN(n)) continue
            if (last !== 0 && n !== last + 1) jumps.push(`${last} to ${n}`)
            last = n
          }
        }
        client.subscribe()
      }
      return { session, clients, jumps }
    }),
  )
  const all = watched.flatMap(({ clients }) => clients)
  const seeMore = async (bytes: number): Promise<void> => {
    for (let step = 1 << 20; step <= bytes; step += 1 << 20)
      await Promise.all(
        all.map(async (client) => {
          const before = client.outputBytes
          await client.waitFor('another MiB', () => client.outputBytes >= before + (1 << 20))
        }),
      )
  }
  await seeMore(WARM_BYTES)
  const before = watched.map(({ session }) => residentKb(session.supervisor_pid))
  await seeMore(SEEN_BYTES)
  const growth = watched.map(({ session }, n) => residentKb(session.supervisor_pid) - (before[n] ?? 0))
  expect(watched.flatMap(({ jumps }) => jumps)).toEqual([])
  // After so little, the heap itself is still growing to its size.
  expect(Math.max(...growth)).toBeLessThan(scaled(32, 16) << 10)
})

test('a client that wants events and never reads is told how things stand when it reads on, not each change in between', async () => {
  // One title per line of input, so that each is a change of its own.
  const session = await start(
    sh(
      `stty -echo; echo ready; i=0; while read x; do i=$((i+1)); printf '\\033]2;%08d ${'t'.repeat(180)}\\007' $i; done`,
    ),
    { classifier: { name: 'none', idleThresholdMs: 1_000, debounceMs: 100 } },
  )
  const [typing, stalled] = await Promise.all([session.connect(), session.connect()])
  typing.onOutput = () => undefined
  typing.subscribe()
  await typing.waitForOutput('ready')
  stalled.subscribe({ events: true })
  await stalled.frame('state')
  stalled.socket.pause()
  const residents: number[] = []
  for (let n = 0; n < CHANGES; n += 1) {
    const before = typing.outputBytes
    typing.type('\n')
    await typing.waitFor('the title', () => typing.outputBytes >= before + TITLE_BYTES)
    if (n % (CHANGES / 50) === 0) residents.push(residentKb(session.supervisor_pid))
  }
  // When it reads on, it gets what was on its way when it stopped, and of the rest only how things stand.
  stalled.socket.resume()
  const last = String(CHANGES).padStart(8, '0')
  await stalled.waitFor('the newest title', () => {
    const frame = stalled.frames.findLast(({ name }) => name === 'state')
    return frame?.payload.includes(last)
  })
  expect(stalled.count('state')).toBeLessThan(1_000)
  // A heap comes and goes by tens of megabytes: its low tide is what stays. From the fifteenth of fifty looks on it has the
  // size that this much work gives it. What piles up is seen in the soak alone: 30 MiB of it, be it frames or output.
  const lowest = (from: number, to: number): number => Math.min(...residents.slice(from, to))
  const growth = lowest(45, 50) - lowest(15, 20)
  expect(growth).toBeLessThan(scaled(32, 12) << 10)
})
