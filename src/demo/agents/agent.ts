// What every agent of the demo can do, as a real one does it: print, run our commands, call tools, read what a person types.
import { execFile, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { type Clock, pause, within } from '../../clock.ts'
import { DEMO_AGENT_WAIT_MS, DEMO_OUTPUT_BYTES_MAX } from '../../limits.ts'
import type { Env } from '../../paths.ts'
import { type CommandReply, replyOf, withJson } from '../command-reply.ts'
import { McpClient } from './mcp-client.ts'

/** Factor of all pauses, from `heimdall demo --fast`. */
export const PACE_VARIABLE = 'HEIMDALL_DEMO_PACE'

export interface DemoAgent {
  readonly name: string
  /** What it does, on its own screen. */
  say(text: string): void
  /** For whoever watches; nothing depends on it. */
  think(seconds: number): Promise<void>
  heimdall(args: readonly string[]): Promise<CommandReply>
  /** Runs a launcher of a seed contract; fails unless it exits with 0. */
  launch(name: string, args: readonly string[]): Promise<void>
  git(args: readonly string[]): Promise<string>
  /** An MCP server of the demo, behind the shim. */
  server(name: 'workshop' | 'tracker'): McpClient
  /** The next line that is typed; nothing once nobody has typed for long. */
  typed(): Promise<string | undefined>
  readonly env: Env
}

export interface AgentSetup {
  readonly name: string
  readonly env: Env
  readonly clock: Clock
  /** This program, which the servers are in too. */
  readonly program: string
  readonly launcher: string
}

const WORKING = '\u001B]7501;state=working\u001B\\'

export function createAgent({ name, env, clock, program, launcher }: AgentSetup): DemoAgent {
  const pace = Number(env[PACE_VARIABLE] ?? '1')
  let lines: Interface | undefined
  process.stdout.write(`${WORKING}\u001B[1m${name}\u001B[0m\r\n\r\n`)
  const run = (file: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      execFile(file, [...args], { env, maxBuffer: DEMO_OUTPUT_BYTES_MAX }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr })
      })
    })
  return {
    name,
    env,
    say: (text) => void process.stdout.write(`${text.replaceAll('\n', '\r\n')}\r\n`),
    think: (seconds) => pause(clock, seconds * 1_000 * pace),
    async heimdall(args) {
      process.stdout.write(`\u001B[2m$ heimdall ${shown(args)}\u001B[0m\r\n`)
      return replyOf(args, await run(process.execPath, [launcher, ...withJson(args)]))
    },
    async launch(name, args) {
      process.stdout.write(`\u001B[2m$ ${name} ${shown(args)}\u001B[0m\r\n`)
      const { code, stderr } = await run(process.execPath, [join(dirname(launcher), name), ...args])
      if (code !== 0) throw new Error(`${name} ${args.slice(0, 1).join(' ')}: ${stderr.trim()}`)
    },
    async git(args) {
      const { code, stdout, stderr } = await run('git', args)
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
      return stdout.trim()
    },
    server: (server) =>
      new McpClient(
        spawn(
          process.execPath,
          [launcher, 'mcp', 'shim', `--server-name=${server}`, '--', process.execPath, program, server],
          {
            env,
            stdio: ['pipe', 'pipe', 'ignore'],
          },
        ),
        name,
      ),
    async typed() {
      lines ??= createInterface({ input: process.stdin })
      const reading = lines
      let line: string | undefined
      const heard = new Promise<void>((resolve) => {
        reading.once('line', (text) => {
          line = text.trim()
          resolve()
        })
      })
      await within(clock, DEMO_AGENT_WAIT_MS, heard)
      return line
    },
  }
}

/** A command line as a person would read it: long texts are for the record. */
function shown(args: readonly string[]): string {
  return args.map((arg) => (arg.length > 48 ? `${arg.slice(0, 40).replaceAll(/\s+/g, ' ')}…` : arg)).join(' ')
}
