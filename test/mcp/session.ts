// A running ledger server and somebody who speaks to it in bytes.
import { expect } from 'vitest'
import { until } from '../support/wait.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import type { TemporaryProject } from '../support/project.ts'

export interface Answer {
  readonly id: number | string | null
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string }
}

export interface ToolAnswer {
  readonly data: Record<string, unknown>
  readonly isError: boolean
}

export class RawSession {
  readonly program: Program
  #nextId = 1

  constructor(
    project: TemporaryProject,
    options: {
      env?: Record<string, string>
      cwd?: string
      args?: string[]
      command?: [string, ...string[]]
    } = {},
  ) {
    this.program = startProgram(options.command ?? [...launcher('heimdall-ledger-mcp'), ...(options.args ?? [])], {
      cwd: options.cwd ?? project.root,
      env: { ...project.env, ...options.env },
    })
  }

  write(bytes: string | Uint8Array): void {
    this.program.child.stdin?.write(bytes)
  }

  /** Whole lines of output so far. */
  lines(): string[] {
    return this.program.stdout().split('\n').slice(0, -1)
  }

  /** The first answer after the first `count` lines. */
  async nextAnswer(count: number): Promise<Answer> {
    const line = await until('an answer', () => this.lines()[count], { context: this.program.stderr })
    return JSON.parse(line) as Answer
  }

  async answerTo(id: number | string | null): Promise<Answer> {
    const line = await this.program.waitForLine(new RegExp(`"id":${JSON.stringify(id)}(,|})`))
    return JSON.parse(line) as Answer
  }

  async request(method: string, params?: object): Promise<Answer> {
    const id = this.#nextId++
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })}\n`)
    return await this.answerTo(id)
  }

  async initialize(client: string, protocolVersion = '2024-11-05'): Promise<Answer> {
    const answer = await this.request('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: client, version: '1' },
    })
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return answer
  }

  async call(name: string, args: object = {}): Promise<ToolAnswer> {
    const answer = await this.request('tools/call', { name, arguments: args })
    expect(answer.error).toBeUndefined()
    return toolAnswer(answer.result)
  }

  /** Closes its input and waits for the server to end. */
  async end(): Promise<number | null> {
    this.program.child.stdin?.end()
    return (await this.program.ended).code
  }
}

/** Text block and structured mirror say the same (seed 000 T-4). */
export function toolAnswer(result: unknown): ToolAnswer {
  const { content, structuredContent, isError } = result as {
    content: { type: string; text: string }[]
    structuredContent: Record<string, unknown>
    isError?: boolean
  }
  expect(content).toHaveLength(1)
  expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent)
  return { data: structuredContent, isError: isError === true }
}

/** A server with an initialized client of this name. */
export async function join(
  project: TemporaryProject,
  client: string,
  options: { env?: Record<string, string> } = {},
): Promise<RawSession> {
  const session = new RawSession(project, options)
  await session.initialize(client)
  return session
}
