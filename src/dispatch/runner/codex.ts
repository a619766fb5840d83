// Codex: `codex exec --json`.
import type { Usage } from '../messages.ts'
import { isObject } from '../../plain-object.ts'
import { countOf, textOf } from './runtime-lines.ts'
import type { Denial, StreamingRuntime, RuntimeTurn, TurnEnd } from './runtime.ts'
import { UNKNOWN } from './turn-result.ts'

export const codex: StreamingRuntime = {
  argv: ({ command, jsonSchema }, schemaFile) => [
    ...command,
    'exec',
    '--json',
    '--skip-git-repo-check',
    ...(jsonSchema === null ? [] : ['--output-schema', schemaFile]),
    '-',
  ],
  again: ({ command, jsonSchema }, session, schemaFile) => [
    ...command,
    'exec',
    '--json',
    '--skip-git-repo-check',
    ...(jsonSchema === null ? [] : ['--output-schema', schemaFile]),
    'resume',
    session,
    '-',
  ],
  turn: () => new CodexTurn(),
}

/** Items that are words of the agent; every other kind is a call of a tool. */
const NO_TOOLS = new Set(['agent_message', 'reasoning', 'todo_list', 'error'])

class CodexTurn implements RuntimeTurn {
  #text = ''
  #session: string | null = null
  #end: TurnEnd | undefined
  readonly #sum = { input: 0, cached: 0, output: 0, reasoning: 0 }
  #isMeasured = false
  #turns = 0
  readonly #tools = new Set<string>()
  readonly #denied: Denial[] = []

  readonly frame = (frame: Record<string, unknown>): void => {
    const { item, usage } = frame
    if (isObject(item)) this.#item(item, frame['type'] === 'item.completed')
    if (frame['type'] === 'thread.started') this.#session = textOf(frame['thread_id'])
    if (frame['type'] === 'turn.completed') {
      if (isObject(usage)) this.#add(usage)
      this.#end = this.#ended(false, this.#text)
    }
    if (frame['type'] === 'turn.failed') {
      const { error } = frame
      this.#end = this.#ended(true, isObject(error) ? textOf(error['message']) : 'failed')
    }
  }

  #item(item: Record<string, unknown>, isCompleted: boolean): void {
    const type = textOf(item['type'] ?? item['item_type'])
    if (!NO_TOOLS.has(type)) this.#tools.add(String(item['id']))
    if (!isCompleted) return
    if (type === 'agent_message') {
      this.#text = textOf(item['text'])
      this.#turns += 1
    }
    if (item['status'] === 'declined') this.#denied.push({ tool: type, target: textOf(item['command']) })
  }

  #add(usage: Record<string, unknown>): void {
    this.#isMeasured = true
    this.#sum.input += countOf(usage['input_tokens'])
    this.#sum.cached += countOf(usage['cached_input_tokens'])
    this.#sum.output += countOf(usage['output_tokens'])
    this.#sum.reasoning += countOf(usage['reasoning_output_tokens'])
  }

  /** With a schema the last message is its value: the runtime has held the model to it. */
  #ended(isError: boolean, text: string): TurnEnd {
    return {
      isError,
      text,
      structured: isError ? undefined : jsonIn(text),
      stoppedBy: null,
      session: this.#session,
      denied: this.#denied,
    }
  }

  readonly spent = (): number => Math.max(0, this.#sum.input - this.#sum.cached) + this.#sum.output

  readonly usage = (): Usage => {
    const { input, cached, output, reasoning } = this.#sum
    return this.#isMeasured
      ? {
          source: 'runtime',
          // The vendor counts cached ones among the input.
          input: Math.max(0, input - cached),
          output,
          cache_read: cached,
          cache_write: null,
          reasoning,
          cost_usd_est: null,
        }
      : UNKNOWN
  }

  readonly end = (): TurnEnd | undefined => this.#end

  readonly counts = () => ({ turns: this.#turns, toolCalls: this.#tools.size })

  readonly session = (): string | null => this.#session

  /** It says nothing of its model or its servers. */
  readonly init = (): undefined => undefined

  readonly line = (frame: Record<string, unknown>): string | undefined => {
    const { item } = frame
    if (frame['type'] !== 'item.completed' || !isObject(item)) return undefined
    return typeof item['text'] === 'string'
      ? item['text']
      : typeof item['command'] === 'string'
        ? `> ${item['command']}`
        : undefined
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
