// The shim over HTTP: what it adds before the first byte of an answer, and what it takes from the speed of a stream.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBench } from './support/bench.ts'
import { percentile } from './support/shim-load.ts'

const folder = mkdtempSync(join(tmpdir(), 'hm-bench-'))
const policyPath = join(folder, 'policy.json')
const programs: ChildProcess[] = []

/** The address that a program prints first. */
function start(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  programs.push(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.includes('\n')) resolve(text.split('\n', 1)[0] ?? '')
    })
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)))
  })
}

const agent = new Agent({ keepAlive: true })
let calls = 0

interface Timed {
  readonly firstMs: number
  readonly totalMs: number
  readonly bytes: number
}

function call(address: string, args: object): Promise<Timed> {
  calls += 1
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: calls,
    method: 'tools/call',
    params: { name: 'read', arguments: args },
  })
  return new Promise((resolve, reject) => {
    const before = performance.now()
    const sent = request(
      address,
      {
        method: 'POST',
        agent,
        headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      },
      (response) => {
        let firstMs = 0
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) firstMs = performance.now() - before
          bytes += chunk.length
        })
        response.once('end', () => resolve({ firstMs, bytes, totalMs: performance.now() - before }))
        response.once('error', reject)
      },
    )
    sent.once('error', reject)
    sent.end(body)
  })
}

async function firstByte(address: string, p: number): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 400; i += 1) times.push((await call(address, { events: 1, bytes: 256 })).firstMs * 1_000)
  return percentile(
    times.sort((a, b) => a - b),
    p,
  )
}

async function speed(address: string, events: number, bytes: number): Promise<number> {
  const { bytes: passed, totalMs } = await call(address, { events, bytes })
  return passed / (1 << 20) / (totalMs / 1_000)
}

await runBench({
  name: 'mcp-http',
  about: 'an MCP server behind the shim over HTTP, with a policy and the record, against a bare Node.js proxy',
  async prepare() {
    const rules = ['delete_*', 'drop_*', 'push_*'].map((glob) => ({
      rule_id: glob,
      kind: 'deny',
      enabled: true,
      severity: 'warn',
      match: { tool_name: { glob: [glob] } },
      effect: { action: 'BLOCK', reason_code: 'NO', message: 'no' },
    }))
    const defaults = { decision_on_error: 'BLOCK' }
    writeFileSync(
      policyPath,
      JSON.stringify({ policy_id: 'bench', version: '1', mode: 'guardrails', defaults, selectors: {}, rules }),
    )
    const url = await start(['bench/peers/http-upstream.mjs'])
    const bare = await start(['bench/peers/http-proxy.mjs', url])
    const shim = [
      'bin/heimdall',
      'mcp',
      'shim',
      '--server-name=bench',
      `--policy=${policyPath}`,
      `--url=${url}`,
      '--listen=0',
    ]
    const ours = await start(shim)
    const sides = (measure: (address: string) => Promise<number>, goal: { atMost: number } | { atLeast: number }) => ({
      ours: { name: 'heimdall shim', measure: () => measure(ours) },
      peers: [
        { name: 'bare Node proxy', measure: () => measure(bare), goal },
        { name: 'no proxy', measure: () => measure(url) },
      ] as const,
    })
    return {
      comparisons: [
        {
          what: 'time to the first byte, p50',
          unit: 'µs',
          rounds: 7,
          ...sides((to) => firstByte(to, 0.5), { atMost: 1.5 }),
        },
        {
          what: 'a stream of events of 1 KiB',
          unit: 'MiB/s',
          rounds: 7,
          ...sides((to) => speed(to, 50_000, 1_024), { atLeast: 0.7 }),
        },
        {
          what: 'a stream of events of 64 KiB',
          unit: 'MiB/s',
          rounds: 7,
          ...sides((to) => speed(to, 4_000, 65_536), { atLeast: 0.7 }),
        },
        {
          what: 'a result of 128 MiB',
          unit: 'MiB/s',
          rounds: 7,
          ...sides((to) => speed(to, 0, 128 << 20), { atLeast: 0.7 }),
        },
      ],
    }
  },
})
agent.destroy()
for (const program of programs) program.kill()
rmSync(folder, { recursive: true, force: true })
