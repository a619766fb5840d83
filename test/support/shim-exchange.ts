// Large traffic through a shim: written and read in pieces, so that the test's own memory is not the limit.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { fixture, launcher } from './programs.ts'
import { temporaryFolder } from './project.ts'
import { type Json, parseLines } from './shim-client.ts'
import { until } from './wait.ts'

export interface Exchange {
  readonly pid: number
  writeLine(line: string): void
  /** Sends a call with arguments of this size and returns the hash of its line. */
  writeLarge(id: number, name: string, bytes: number): Promise<string>
  answers(count: number): Promise<void>
  /** The text of an answer that is not large. */
  answerText(id: number): Promise<string>
  lastLineHash(): string
  /** Resident bytes once the shim has answered something and rests. */
  settledMemory(): Promise<number>
  /** The most that was ever resident, as the kernel saw it. */
  peakMemory(): number
  heldFiles(): string[]
  end(): Promise<{ readonly code: number | null; readonly events: Json[] }>
}

export function startExchange(server: readonly string[] = fixture('shim-upstream')): Exchange {
  const [node, bin] = launcher('sub')
  const held = temporaryFolder()
  const child = spawn(node, [bin, 'shim', '--server-name=x', '--', ...server], {
    stdio: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: temporaryFolder(), TMPDIR: held },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const pid = child.pid ?? 0
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  let lines = 0
  let small = ''
  let lineBytes = 0
  let hash = createHash('sha256')
  let lastHash = ''
  const take = (piece: Buffer): void => {
    hash.update(piece)
    lineBytes += piece.length
    if (lineBytes < 65_536) small += piece.toString()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end))
      lastHash = hash.digest('hex')
      hash = createHash('sha256')
      if (lineBytes < 65_536) small += '\n'
      lineBytes = 0
      lines += 1
      from = end + 1
    }
    if (from < chunk.length) take(chunk.subarray(from))
  })
  const status = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
  const ended = new Promise<number | null>((resolve) => void child.once('close', (code) => resolve(code)))
  const exchange: Exchange = {
    pid,
    writeLine: (line) => void child.stdin.write(`${line}\n`),
    async writeLarge(id, name, bytes) {
      const sum = createHash('sha256')
      const write = async (text: string | Buffer): Promise<void> => {
        sum.update(text)
        if (!child.stdin.write(text)) await new Promise<void>((resolve) => void child.stdin.once('drain', resolve))
      }
      await write(`{"jsonrpc":"2.0","params":{"name":"${name}","arguments":{"text":"`)
      const piece = Buffer.alloc(1 << 18, 'the quick brown fox jumps over the lazy dog. ')
      for (let left = bytes; left > 0; left -= piece.length)
        await write(piece.subarray(0, Math.min(left, piece.length)))
      await write(`"}},"method":"tools/call","id":${id}}`)
      child.stdin.write('\n')
      return sum.digest('hex')
    },
    answers: async (count) =>
      void (await until(`${count} answers`, () => lines >= count, { context: () => stderr.slice(-2_000) })),
    answerText: (id) => until(`answer ${id}`, () => new RegExp(`^.*"id":${id},.*$`, 'm').exec(small)?.[0]),
    lastLineHash: () => lastHash,
    async settledMemory() {
      const answered = lines
      child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"ping"}\n')
      await until('the answer', () => lines > answered)
      lines = 0
      return status('VmRSS')
    },
    peakMemory: () => status('VmHWM'),
    heldFiles: () => readdirSync(held),
    async end() {
      child.stdin.end()
      return { code: await ended, events: parseLines(stderr) }
    },
  }
  return exchange
}
