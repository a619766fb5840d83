// A reader of a record that others write, cut and tear: against the file as it is at the end, which is read by brute force.
import fs from 'node:fs'
import { expect, test } from 'vitest'
import { pause, systemClock } from '../../src/clock.ts'
import { EventText } from '../../src/events/event-text.ts'
import type { RunIdentity } from '../../src/events/types.ts'
import { RECORD_BUSY_MS, RECORD_LINE_BYTES_MAX } from '../../src/limits.ts'
import { RecordReader } from '../../src/runs/record-reader.ts'
import { recordPath, RunLog } from '../../src/runs/run-log.ts'
import { tryLock } from '../../src/storage/kernel-lock.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, runsDir, startShim, toolCall } from '../support/shim-client.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'

const identity: RunIdentity = {
  run_id: 'r',
  agent_id: 'a',
  client: 'custom',
  env: 'dev',
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
}

/** All whole lines of the file that are events, read in the plainest way. */
function bruteForce(path: string): string[] {
  const lines = fs.readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.filter((line) => {
    try {
      return typeof (JSON.parse(line) as { type?: unknown } | null)?.type === 'string'
    } catch {
      return false
    }
  })
}

/** mulberry32: the same history for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const FOREIGN = [
  'garbage',
  '',
  '[1]',
  'null',
  '42',
  '{"no":"type"}',
  '{"type":7}',
  '{"type":"x"',
  '\u{fffd}\u0000',
  '  ',
]

/** One random history of a record, with readers that come and go in the middle of everything. */
function live(seed: number): { readonly seen: string[]; readonly path: string; readonly early: string[] } {
  const random = chance(seed)
  const runDir = temporaryFolder()
  const path = recordPath(runDir)
  const log = new RunLog(runDir)
  const text = new EventText(identity, () => 0)
  let reader = new RecordReader(runDir)
  let n = 0
  let lastEnd = 0
  const seen: string[] = []
  const early: string[] = []
  const look = (): void => {
    for (let rounds = random(3); rounds > 0; rounds -= 1) {
      const lines = reader.read()
      if (lines === 'gone') throw new Error('the record is there')
      seen.push(...lines.map((line) => line.text))
      lastEnd = lines.at(-1)?.end ?? lastEnd
    }
    if (random(4) > 0) return
    // Either will do to go on: what lies between the two is no event.
    const offset = random(2) === 0 ? reader.offset : lastEnd
    reader.close()
    reader = new RecordReader(runDir, offset)
  }
  const event = (): string => JSON.stringify({ type: 'x', n: (n += 1), pad: 'y'.repeat(random(80)) })
  /** A writer of ours that goes another way in the middle; it closes a torn tail first, as all do. */
  const withLock = (act: (fd: number) => void): void => {
    const fd = fs.openSync(path, 'a+')
    expect(tryLock(fd)).toBe(true)
    const { size } = fs.fstatSync(fd)
    if (size > 0 && fs.readFileSync(path)[size - 1] !== 0x0a) fs.writeSync(fd, '\n')
    act(fd)
    fs.closeSync(fd)
  }
  const deeds: (() => void)[] = [
    // A batch, and its books.
    () => {
      for (let i = random(3); i >= 0; i -= 1)
        text.shimHealth({ uptime_ms: (n += 1), calls_open: 0, events_lost: 0, record: '' })
      log.locked(() => log.append(text.lines))
      text.lines.clear()
    },
    // A disk that is full in the middle of a batch: what fitted is taken back.
    () =>
      withLock((fd) => {
        const { size } = fs.fstatSync(fd)
        for (let i = random(3); i >= 0; i -= 1) {
          const line = event()
          early.push(line)
          fs.writeSync(fd, `${line}\n`)
          look()
        }
        fs.writeSync(fd, event().slice(0, 5))
        look()
        fs.ftruncateSync(fd, size)
        look()
      }),
    // Killed in the middle of a batch, with or without a torn line; the books know nothing of it.
    () =>
      withLock((fd) => {
        for (let i = random(3); i > 0; i -= 1) {
          fs.writeSync(fd, `${event()}\n`)
          look()
        }
        const line = event()
        fs.writeSync(fd, line.slice(0, random(line.length + 1)))
        look()
      }),
    // Somebody who keeps to no rule.
    () => fs.appendFileSync(path, `${FOREIGN[random(FOREIGN.length)]}\n`),
    () => fs.appendFileSync(path, `${'z'.repeat(RECORD_LINE_BYTES_MAX - 1 + random(3))}\n`),
    () => fs.appendFileSync(path, FOREIGN[random(FOREIGN.length)] ?? ''),
  ]
  for (let i = 0; i < 40; i += 1) {
    // Lines of a megabyte are rare.
    const deed = deeds[random(20) === 0 ? 4 : ([0, 0, 1, 2, 3, 5][random(6)] ?? 0)]
    deed?.()
    look()
  }
  deeds[0]?.()
  for (;;) {
    const lines = reader.read()
    if (lines === 'gone' || lines.length === 0) break
    seen.push(...lines.map((line) => line.text))
  }
  reader.close()
  log.close()
  return { seen, path, early }
}

test('whatever happens to the record, each event is seen once, in order, and none that was taken back', () => {
  for (let seed = 1; seed <= scaled(60, 2_000); seed += 1) {
    const { seen, path, early } = live(seed)
    expect(seen, `seed ${seed}`).toEqual(bruteForce(path))
    expect(seen.filter((line) => early.includes(line))).toEqual([])
    expect(new Set(seen).size).toBe(seen.length)
  }
})

test('a record that is removed, or cut below the reader, is gone', () => {
  const runDir = temporaryFolder()
  const reader = new RecordReader(runDir)
  expect(reader.read()).toBe('gone')
  const line = '{"type":"x"}\n'
  fs.writeFileSync(recordPath(runDir), line)
  expect(reader.read()).toMatchObject([{ event: { type: 'x' }, end: line.length }])
  fs.truncateSync(recordPath(runDir), 3)
  expect(reader.read()).toBe('gone')
  fs.writeFileSync(recordPath(runDir), line)
  fs.renameSync(recordPath(runDir), `${recordPath(runDir)}.old`)
  fs.writeFileSync(recordPath(runDir), line)
  expect(reader.read()).toBe('gone')
  reader.close()
})

test('a follower has what shims write while they are killed, each event once', async () => {
  const home = temporaryFolder()
  const runDir = `${runsDir(home)}/r`
  const start = (ownProcess: boolean) =>
    startShim({ policy: bundle([]), bin: 'heimdall', home, ownProcess, env: { SUB_RUN_ID: 'r' } })
  const last = start(false)
  await last.call('echo')
  const stop = new AbortController()
  const seen: string[] = []
  const following = (async () => {
    // Restarted at its offset again and again.
    for (let from = 0; !stop.signal.aborted;) {
      const reader = new RecordReader(runDir, from)
      const lines = reader.read()
      reader.close()
      for (const line of lines === 'gone' ? [] : lines.slice(0, 3)) {
        seen.push(line.text)
        from = line.end
      }
      if (lines === 'gone' || lines.length === 0) await pause(systemClock, RECORD_BUSY_MS, stop.signal)
    }
  })()
  for (let round = 0; round < scaled(3, 20); round += 1) {
    const shim = start(true)
    for (let i = 0; i < 20; i += 1) shim.send(toolCall(i, 'echo'))
    await shim.answer(10)
    shim.program.kill('SIGKILL')
    await shim.program.ended
    await last.call('echo')
  }
  await last.end()
  const all = bruteForce(recordPath(runDir))
  expect(all.at(-1)).toContain('"run_end"')
  await until('the last event', () => seen.length >= all.length)
  stop.abort()
  await following
  expect(seen).toEqual(all)
})
