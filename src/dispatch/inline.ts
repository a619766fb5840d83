// Phase 1 of seed 003: the contract as hints in front of the brief, for peers that know nothing of the extension; written, and read back.
import { INLINE_HINT_BYTES_MAX } from '../limits.ts'
import { DISPATCH_PROTOCOL, parseDispatch, type TaskDispatch } from './messages.ts'

const HEADER = 'TASK DISPATCH (inline)'

/** The brief stands last and as it is; nothing in it can pass for a hint. */
export function writeInline({ task, requirements, deadline, brief }: TaskDispatch): string {
  const hints: [string, unknown][] = [
    ['task_id', task.task_id],
    ['priority', task.priority],
    ['reply_schema', task.reply_schema],
    ['token_budget', task.token_budget],
    ['deadline', deadline],
    ['required_mcp', requirements.required_mcp],
    ['required_capabilities', requirements.required_capabilities],
  ]
  const lines = hints.flatMap(([key, value]) =>
    value === null || (Array.isArray(value) && value.length === 0) ? [] : [`${key}: ${hint(value)}`],
  )
  return [HEADER, ...lines, `Brief: ${brief}`].join('\n')
}

/** As the seed writes them: plain words without quotes, lists in brackets. What is no plain word is quoted as JSON, which is YAML too. */
function hint(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(hint).join(', ')}]`
  const text = String(value)
  if (typeof value === 'number') return text
  return /^[A-Za-z_][\w.-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
}

/** What a text message asks for. Without the header, or with hints that cannot be read, all of it is the brief. */
export async function readInline(text: string, taskId: string): Promise<TaskDispatch> {
  const found = await hintsOf(text)
  const hints = found?.hints ?? {}
  const make = (of: Readonly<Record<string, unknown>>, brief: string): TaskDispatch =>
    parseDispatch({
      type: 'TASK_DISPATCH',
      protocol_version: DISPATCH_PROTOCOL,
      task: {
        task_id: wordOf(of['task_id']) ?? taskId,
        ...given('priority', of['priority']),
        ...given('reply_schema', of['reply_schema']),
        ...given('token_budget', of['token_budget']),
      },
      requirements: {
        ...given('required_mcp', listOf(of['required_mcp'])),
        ...given('required_capabilities', listOf(of['required_capabilities'])),
      },
      ...given('deadline', of['deadline']),
      brief,
    })
  return make(hints, found?.brief ?? text)
}

async function hintsOf(text: string): Promise<{ hints: Readonly<Record<string, unknown>>; brief: string } | undefined> {
  const body = text.trimStart()
  if (!body.startsWith(HEADER)) return undefined
  const start = /^Brief:[ \t]?/m.exec(body)
  if (start === null || start.index > INLINE_HINT_BYTES_MAX) return undefined
  // Loaded here: most peers have the extension.
  const { parse } = await import('yaml')
  try {
    const hints: unknown = parse(body.slice(HEADER.length, start.index), { maxAliasCount: 0, version: '1.2' })
    if (hints !== null && (typeof hints !== 'object' || Array.isArray(hints))) return undefined
    return { hints: { ...hints }, brief: body.slice(start.index + start[0].length) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return undefined
  }
}

const given = (key: string, value: unknown): Record<string, unknown> =>
  value === undefined || value === null ? {} : { [key]: value }
const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
/** One name may stand without brackets. */
const listOf = (value: unknown): unknown => (typeof value === 'string' ? [value] : value)
