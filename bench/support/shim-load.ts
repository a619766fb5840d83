// Load on one proxy: calls with so many in flight, one after the other, or large ones; with its time, CPU and memory.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

const NEWLINE = 10
/** About 300 bytes, as agents send them. */
const call = (id: number, root: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"write_file","arguments":{"path":"${root}/src/module-${id % 50}.ts","content":"export const answer = ${id}; // a line of code that somebody wrote, long enough to be like a real one","mode":420,"force":false},"_meta":{"progressToken":${id}}}}\n`

export interface Load {
  /** Calls a second, and CPU of the proxy in microseconds a call. */
  throughput(calls: number, inFlight: number): Promise<{ readonly perSecond: number; readonly cpuUs: number }>
  /** Round trips one after the other, in microseconds, sorted. */
  latencies(calls: number): Promise<number[]>
  /** Megabytes a second of one result of this size. */
  result(bytes: number): Promise<number>
  /** Megabytes a second of one request of this size. */
  request(bytes: number): Promise<number>
  peakMb(): number
  close(): Promise<void>
}

export async function startLoad(
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
  /** Where the files lie that the calls are for. */
  root = '/repo',
): Promise<Load> {
  const [file, ...args] = command
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  })
  let nextId = 1
  const seen = { answers: 0, hasEnded: false }
  let wake: () => void = () => {}
  child.stdout.on('data', (chunk: Buffer) => {
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, end + 1)) seen.answers += 1
    wake()
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      seen.hasEnded = true
      wake()
      resolve()
    })
  })
  const until = async (count: number): Promise<void> => {
    while (seen.answers < count) {
      if (seen.hasEnded) throw new Error(`${command.join(' ')} ended at ${seen.answers} of ${count} answers`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const ask = async (line: string): Promise<void> => {
    const wanted = seen.answers + 1
    child.stdin.write(line)
    await until(wanted)
  }
  /** Of all its threads, to the nanosecond: the ticks of `stat` are as long as 500 calls. */
  const cpuUs = (): number =>
    readdirSync(`/proc/${child.pid}/task`)
      .map((task) => Number(readFileSync(`/proc/${child.pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1_000)
      .reduce((sum, us) => sum + us, 0)
  const load: Load = {
    async throughput(calls, inFlight) {
      const cpuBefore = cpuUs()
      const before = performance.now()
      const goal = seen.answers + calls
      let sent = 0
      const base = seen.answers
      while (seen.answers < goal) {
        let batch = ''
        while (sent < calls && sent - (seen.answers - base) < inFlight) {
          batch += call(nextId++, root)
          sent += 1
        }
        if (batch !== '') child.stdin.write(batch)
        await until(Math.min(goal, seen.answers + 1))
      }
      const seconds = (performance.now() - before) / 1_000
      return { perSecond: calls / seconds, cpuUs: (cpuUs() - cpuBefore) / calls }
    },
    async latencies(calls) {
      const times: number[] = []
      for (let i = 0; i < calls; i += 1) {
        const before = performance.now()
        await ask(call(nextId++, root))
        times.push((performance.now() - before) * 1_000)
      }
      return times.sort((a, b) => a - b)
    },
    async result(bytes) {
      const before = performance.now()
      await ask(
        `{"jsonrpc":"2.0","id":${nextId++},"method":"tools/call","params":{"name":"write_file","arguments":{"bytes":${bytes}}}}\n`,
      )
      return bytes / 1e6 / ((performance.now() - before) / 1_000)
    },
    async request(bytes) {
      const piece = Buffer.alloc(1 << 18, 'abcdefghijklmnopqrstuvwxyz012345')
      const wanted = seen.answers + 1
      const before = performance.now()
      child.stdin.write(
        `{"jsonrpc":"2.0","id":${nextId++},"method":"tools/call","params":{"name":"write_file","arguments":{"content":"`,
      )
      for (let left = bytes; left > 0; left -= piece.length)
        if (!child.stdin.write(piece.subarray(0, Math.min(left, piece.length))))
          await new Promise<void>((resolve) => void child.stdin.once('drain', resolve))
      child.stdin.write('"}}}\n')
      await until(wanted)
      return bytes / 1e6 / ((performance.now() - before) / 1_000)
    },
    peakMb: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_024,
    async close() {
      child.stdin.end()
      await ended
    },
  }
  await ask(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}\n',
  )
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return load
}

/** From the start of the proxy until its first answer, in milliseconds. */
export async function startUntilAnswer(
  command: readonly [string, ...string[]],
  env?: Readonly<Record<string, string>>,
): Promise<number> {
  const before = performance.now()
  const load = await startLoad(command, env)
  const took = performance.now() - before
  await load.close()
  return took
}

export const percentile = (sorted: readonly number[], p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN
