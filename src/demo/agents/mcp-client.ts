// The least MCP client that there is: greets, calls tools one after another, and tells a result from a refusal.
import type { ChildProcessByStdio } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

type Fields = Readonly<Record<string, unknown>>

export type ToolAnswer =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly code: number
      readonly message: string
      /** What policy suggests: a whole call that would pass. */
      readonly hint: { readonly text: string; readonly args: Fields | null }
    }

export class McpClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #ended: Promise<void>
  readonly #waiting = new Map<number, (message: Fields) => void>()
  readonly #greeted: Promise<unknown>
  #last = 0

  constructor(child: ChildProcessByStdio<Writable, Readable, null>, name: string) {
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('close', () => {
        for (const answer of this.#waiting.values()) answer({ error: { code: 0, message: 'the server has ended' } })
        resolve()
      })
    })
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as Fields
      this.#waiting.get(Number(message['id']))?.(message)
      this.#waiting.delete(Number(message['id']))
    })
    this.#greeted = this.#ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name, version: '1' },
    }).then(() => this.#send({ method: 'notifications/initialized' }))
  }

  async call(tool: string, args: Fields): Promise<ToolAnswer> {
    await this.#greeted
    const { result, error } = await this.#ask('tools/call', { name: tool, arguments: args })
    if (error === undefined) return { ok: true, text: textOf(result as Fields) }
    const { code, message, data } = error as { code: number; message: string; data?: Fields }
    const hint = ((data?.['subluminal'] as Fields | undefined)?.['hint'] ?? {}) as Fields
    return {
      ok: false,
      code,
      message,
      hint: {
        text: typeof hint['hint_text'] === 'string' ? hint['hint_text'] : '',
        args: (hint['suggested_args'] as Fields | null | undefined) ?? null,
      },
    }
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
  }

  #ask(method: string, params: Fields): Promise<Fields> {
    this.#last += 1
    const id = this.#last
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#send({ id, method, params })
    })
  }

  #send(message: Fields): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

function textOf(result: Fields): string {
  const [first] = (result['content'] ?? []) as readonly { readonly text?: string }[]
  return first?.text ?? ''
}
