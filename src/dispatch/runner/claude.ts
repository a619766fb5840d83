// Claude Code: `claude -p --output-format stream-json`.
import type { Usage } from '../messages.ts'
import { isObject } from '../../plain-object.ts'
import { countOf, textOf } from './runtime-lines.ts'
import type { Denial, RuntimeInit, StreamingRuntime, RuntimeTurn, TurnEnd } from './runtime.ts'

export const claude: StreamingRuntime = {
  argv: ({ command, jsonSchema }) => [
    ...command,
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    ...(jsonSchema === null ? [] : ['--json-schema', JSON.stringify(jsonSchema)]),
  ],
  again: (order, session) => [...claude.argv(order, ''), '--resume', session],
  turn: (before) => new ClaudeTurn(before),
}

class ClaudeTurn implements RuntimeTurn {
  readonly #before: Usage | undefined
  #end: TurnEnd | undefined
  #init: RuntimeInit | undefined
  #session: string | null = null
  #usage: Usage | undefined
  readonly #tools = new Set<string>()
  /** Of each message its last count: a message is told in several frames, each with the usage so far. */
  readonly #seen = new Map<string, { input: number; output: number; read: number; write: number }>()

  constructor(before: Usage | undefined) {
    this.#before = before
  }

  readonly frame = (frame: Record<string, unknown>): void => {
    if (typeof frame['session_id'] === 'string') this.#session = frame['session_id']
    if (frame['type'] === 'system' && frame['subtype'] === 'init') this.#init = initOf(frame)
    if (frame['type'] === 'assistant') this.#assistant(frame)
    if (frame['type'] !== 'result') return
    this.#usage = sinceBefore(usageOf(frame), frame, this.#before)
    const subtype = textOf(frame['subtype'])
    this.#end = {
      isError: frame['is_error'] === true || subtype.startsWith('error'),
      text: typeof frame['result'] === 'string' ? frame['result'] : '',
      structured: frame['structured_output'],
      stoppedBy: /^error_max_(turns|budget)/.test(subtype) ? subtype : null,
      session: typeof frame['session_id'] === 'string' ? frame['session_id'] : null,
      denied: denialsOf(frame['permission_denials']),
    }
  }

  #assistant(frame: Record<string, unknown>): void {
    const { message } = frame
    if (!isObject(message)) return
    const { content } = message
    // `tool_use`, `server_tool_use`, `mcp_tool_use`.
    for (const part of Array.isArray(content) ? content : [])
      if (isObject(part) && textOf(part['type']).endsWith('tool_use')) this.#tools.add(String(part['id']))
    if (!isObject(message['usage'])) return
    const usage = message['usage']
    this.#seen.set(String(message['id']), {
      input: countOf(usage['input_tokens']),
      output: countOf(usage['output_tokens']),
      read: countOf(usage['cache_read_input_tokens']),
      write: countOf(usage['cache_creation_input_tokens']),
    })
  }

  readonly spent = (): number => {
    const { input, output, cache_write: write } = this.usage()
    return (input ?? 0) + (output ?? 0) + (write ?? 0)
  }

  readonly usage = (): Usage => {
    if (this.#usage !== undefined) return this.#usage
    const sum = (of: (one: { input: number; output: number; read: number; write: number }) => number): number =>
      [...this.#seen.values()].reduce((total, one) => total + of(one), 0)
    return {
      source: 'runtime',
      input: sum(({ input }) => input),
      output: sum(({ output }) => output),
      cache_read: sum(({ read }) => read),
      cache_write: sum(({ write }) => write),
      reasoning: null,
      cost_usd_est: null,
      includes_subagents: false,
    }
  }

  readonly end = (): TurnEnd | undefined => this.#end

  readonly counts = () => ({ turns: this.#seen.size, toolCalls: this.#tools.size })

  readonly session = (): string | null => this.#session

  readonly init = (): RuntimeInit | undefined => this.#init

  readonly line = (frame: Record<string, unknown>): string | undefined => {
    const content = isObject(frame['message']) ? frame['message']['content'] : undefined
    if (frame['type'] !== 'assistant' || !Array.isArray(content)) return undefined
    return content
      .filter(isObject)
      .map((part) =>
        part['type'] === 'text' ? String(part['text']) : part['type'] === 'tool_use' ? `> ${String(part['name'])}` : '',
      )
      .filter((text) => text !== '')
      .join('\n')
  }
}

/** What a call is about, by the names that Claude Code's own tools give it. */
const TARGETS = ['command', 'file_path', 'notebook_path', 'path', 'url', 'query'] as const

function denialsOf(denials: unknown): Denial[] {
  return (Array.isArray(denials) ? denials : []).filter(isObject).map((denial) => {
    const input = isObject(denial['tool_input']) ? denial['tool_input'] : {}
    return {
      tool: textOf(denial['tool_name']),
      target: TARGETS.map((key) => textOf(input[key])).find((text) => text !== '') ?? '',
    }
  })
}

function initOf(frame: Record<string, unknown>): RuntimeInit {
  const { tools, mcp_servers: servers } = frame
  return {
    model: textOf(frame['model']),
    tools: Array.isArray(tools) ? tools.map(textOf).filter((tool) => tool !== '') : [],
    servers: (Array.isArray(servers) ? servers : []).filter(isObject).map((server) => ({
      name: textOf(server['name']),
      status: textOf(server['status']),
    })),
  }
}

/**
 * A conversation that is taken up again may count on from where it was left. It has, if what it tells is at least what
 * was told before and what this turn's own loop took together.
 */
function sinceBefore(told: Usage, frame: Record<string, unknown>, before: Usage | undefined): Usage {
  if (before === undefined) return told
  const own = isObject(frame['usage']) ? countOf(frame['usage']['output_tokens']) : 0
  if ((told.output ?? 0) < (before.output ?? 0) + own) return told
  const less = (key: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cost_usd_est'): number | null =>
    told[key] === null ? null : Math.max(0, told[key] - (before[key] ?? 0))
  return {
    ...told,
    input: less('input'),
    output: less('output'),
    cache_read: less('cache_read'),
    cache_write: less('cache_write'),
    cost_usd_est: less('cost_usd_est'),
  }
}

/** `usage` of the frame is the main loop alone; `modelUsage` has what subagents took as well. */
function usageOf(frame: Record<string, unknown>): Usage {
  const models = isObject(frame['modelUsage']) ? Object.entries(frame['modelUsage']) : []
  const cost = frame['total_cost_usd']
  if (models.length > 0) {
    const sum = (key: string): number =>
      models.reduce((total, [, one]) => total + (isObject(one) ? countOf(one[key]) : 0), 0)
    return {
      source: 'runtime',
      input: sum('inputTokens'),
      output: sum('outputTokens'),
      cache_read: sum('cacheReadInputTokens'),
      cache_write: sum('cacheCreationInputTokens'),
      reasoning: null,
      cost_usd_est: typeof cost === 'number' && cost >= 0 ? cost : null,
      by_model: Object.fromEntries(models),
      includes_subagents: true,
    }
  }
  const usage = isObject(frame['usage']) ? frame['usage'] : {}
  return {
    source: 'runtime',
    input: countOf(usage['input_tokens']),
    output: countOf(usage['output_tokens']),
    cache_read: countOf(usage['cache_read_input_tokens']),
    cache_write: countOf(usage['cache_creation_input_tokens']),
    reasoning: null,
    cost_usd_est: typeof cost === 'number' && cost >= 0 ? cost : null,
    includes_subagents: false,
  }
}
