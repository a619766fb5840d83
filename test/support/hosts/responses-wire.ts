// OpenAI's responses as Codex speaks them.
import type { Asked, Part, Reply, Turn } from './script.ts'
import { asText, type ServerEvent } from './sse.ts'

interface Item {
  readonly type: string
  readonly role?: string
  readonly content?: unknown
  readonly output?: unknown
}

interface Body {
  readonly model: string
  readonly instructions?: string
  readonly input: readonly Item[]
  readonly tools?: readonly {
    readonly name?: string
    readonly type: string
    readonly tools?: readonly { name: string }[]
  }[]
  readonly text?: { readonly format?: { readonly type?: string } }
}

export function readResponses(body: unknown): Asked {
  const { model, instructions, input, tools = [], text } = body as Body
  return {
    host: 'codex',
    model,
    instructions: instructions ?? '',
    turns: input.flatMap(turnsOf),
    tools: tools.flatMap(({ name, type, tools: inner }) => [
      name ?? type,
      ...(inner ?? []).map((tool) => `${name}.${tool.name}`),
    ]),
    wantsJson: text?.format?.type === 'json_schema',
    body,
  }
}

function turnsOf(item: Item): Turn[] {
  if (item.type === 'message')
    return item.role === 'user' || item.role === 'assistant'
      ? [{ from: item.role === 'user' ? 'user' : 'model', text: asText(item.content) }]
      : []
  // Between agents: a task for a subagent, or its answer.
  if (item.type === 'agent_message') return [{ from: 'user', text: asText(item.content) }]
  if (item.type === 'additional_tools') return []
  if (item.type.endsWith('_output')) return [{ from: 'tool', text: asText(item.output) }]
  return [{ from: 'model', text: '' }]
}

function itemOf(part: Part, id: string): Record<string, unknown> {
  if ('text' in part)
    return {
      type: 'message',
      id,
      role: 'assistant',
      content: [{ type: 'output_text', text: part.text, annotations: [] }],
    }
  if ('write' in part) {
    const patch = ['*** Begin Patch', `*** Add File: ${part.write}`]
    const lines = part.content.split('\n').map((line) => `+${line}`)
    return {
      type: 'custom_tool_call',
      id,
      call_id: `call_${id}`,
      name: 'apply_patch',
      input: [...patch, ...lines, '*** End Patch'].join('\n'),
    }
  }
  return { type: 'function_call', id, call_id: `call_${id}`, ...functionOf(part) }
}

function functionOf(part: Exclude<Part, { text: string } | { write: string }>): Record<string, unknown> {
  if ('call' in part) {
    const [name = '', namespace] = part.call.split('.').toReversed()
    return { name, ...(namespace === undefined ? {} : { namespace }), arguments: JSON.stringify(part.input) }
  }
  if ('server' in part)
    return { name: part.tool, namespace: `mcp__${part.server}`, arguments: JSON.stringify(part.input) }
  if ('shell' in part) {
    const escalated = { sandbox_permissions: 'require_escalated', justification: 'May I do as asked?' }
    const input = { cmd: part.shell, ...(part.asks === true ? escalated : {}) }
    return { name: 'exec_command', arguments: JSON.stringify(input) }
  }
  const task = { task_name: 'a_part', message: part.subagent, fork_turns: 'none' }
  return { name: 'spawn_agent', namespace: 'collaboration', arguments: JSON.stringify(task) }
}

export function responseEvents({ parts, tokens }: Reply, { model }: Asked, number: number): ServerEvent[] {
  const id = `resp_${number}`
  const items = parts.map((part, index) => itemOf(part, `item_${number}_${index}`))
  const events: object[] = [
    { type: 'response.created', response: { id, object: 'response', model, status: 'in_progress', output: [] } },
    ...items.flatMap((item, index) => [
      ...(item['type'] === 'message' ? textEvents(item, index) : []),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    {
      type: 'response.completed',
      response: {
        id,
        object: 'response',
        model,
        status: 'completed',
        output: items,
        usage: {
          input_tokens: tokens.input + tokens.cached,
          input_tokens_details: { cached_tokens: tokens.cached },
          output_tokens: tokens.output,
          output_tokens_details: { reasoning_tokens: tokens.reasoning },
          total_tokens: tokens.input + tokens.cached + tokens.output,
        },
      },
    },
  ]
  return events.map((data) => ({ event: (data as { type: string }).type, data }))
}

function textEvents(item: Record<string, unknown>, index: number): object[] {
  const place = { item_id: item['id'], output_index: index }
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...place, content_index: 0, delta: asText(item['content']) },
  ]
}
