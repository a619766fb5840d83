// Anthropic's messages as Claude Code speaks them: a request to what was asked, a reply to server-sent events.
import type { Asked, Part, Reply, Turn } from './script.ts'
import { asText, type ServerEvent } from './sse.ts'

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: unknown
  readonly is_error?: boolean
  readonly name?: string
}

interface Body {
  readonly model: string
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
  readonly tools?: readonly { readonly name?: string }[]
  readonly output_config?: unknown
}

export function readMessages(body: unknown): Asked {
  const { model, system, messages, tools = [], output_config: output } = body as Body
  return {
    host: 'claude',
    model,
    instructions: asText(system),
    turns: messages.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [{ from: speaker(role), text: content }]
        : content.map((block): Turn => turnOf(role, block)),
    ),
    tools: tools.flatMap(({ name }) => name ?? []),
    wantsJson: output !== undefined && JSON.stringify(output).includes('json_schema'),
    body,
  }
}

const speaker = (role: string): 'user' | 'model' => (role === 'assistant' ? 'model' : 'user')

function turnOf(role: string, block: Block): Turn {
  if (block.type === 'tool_result')
    return { from: 'tool', text: asText(block.content), isError: block.is_error === true }
  return { from: speaker(role), text: block.text ?? '' }
}

function blockOf(part: Part, id: string): { start: object; delta: object } {
  if ('text' in part) return { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: part.text } }
  const { name, input } = toolOf(part)
  return {
    start: { type: 'tool_use', id, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  }
}

function toolOf(part: Exclude<Part, { text: string }>): { name: string; input: object } {
  if ('call' in part) return { name: part.call, input: part.input }
  if ('server' in part) return { name: `mcp__${part.server}__${part.tool}`, input: part.input }
  if ('shell' in part) return { name: 'Bash', input: { command: part.shell, description: 'as asked' } }
  if ('write' in part) return { name: 'Write', input: { file_path: part.write, content: part.content } }
  return { name: 'Agent', input: { description: 'a part', prompt: part.subagent, subagent_type: 'general-purpose' } }
}

export function messageEvents({ parts, tokens }: Reply, { model }: Asked, number: number): ServerEvent[] {
  const counts = {
    input_tokens: tokens.input,
    cache_read_input_tokens: tokens.cached,
    cache_creation_input_tokens: tokens.cacheWrite,
    cache_creation: { ephemeral_5m_input_tokens: tokens.cacheWrite, ephemeral_1h_input_tokens: 0 },
  }
  const stop = parts.every((part) => 'text' in part) ? 'end_turn' : 'tool_use'
  const events: object[] = [
    {
      type: 'message_start',
      message: {
        id: `msg_${number}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // As the real one: what it will have said is not known at its start.
        usage: { ...counts, output_tokens: 1, service_tier: 'standard' },
      },
    },
    ...parts.flatMap((part, index) => {
      const { start, delta } = blockOf(part, `toolu_${number}_${index}`)
      return [
        { type: 'content_block_start', index, content_block: start },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: {
        ...counts,
        output_tokens: tokens.output,
        output_tokens_details: { thinking_tokens: tokens.reasoning },
      },
    },
    { type: 'message_stop' },
  ]
  return events.map((data) => ({ event: (data as { type: string }).type, data }))
}
