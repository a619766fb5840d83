// What a host hands to a hook, read once: which event, of which session, and what a tool is about to write. What is not understood is said, never guessed.
import { isObject } from '../../plain-object.ts'
import { type HookEvent, type HookHost, HOOKS, type ToolWrites } from './hook-table.ts'
import { patchPaths } from '../../shell/patch-paths.ts'
import { type ShellWrites, shellWrites } from '../../shell/writes.ts'

/** What a tool of any kind is about to write; where that is not said in a way that is known here, `isUnread`. */
export interface HookTool extends ShellWrites {
  readonly name: string
  readonly useId: string | undefined
  /** An MCP server's: its calls are judged by the shim. */
  readonly isMcp: boolean
  readonly isShell: boolean
}

export interface HookCall {
  readonly host: HookHost
  readonly event: HookEvent
  /** The host's own word for the event, which its answers repeat. */
  readonly name: string
  readonly sessionId: string | undefined
  readonly cwd: string | undefined
  readonly transcript: string | undefined
  readonly tool: HookTool | undefined
  /** Why a session begins or ends: `startup`, `resume`, `clear`, `compact`. */
  readonly reason: string | undefined
  /** What a person is asked. */
  readonly question: string | undefined
}

/** `unknown` is an event that no hook of ours is for; a text says why it is no payload of that host. */
export type HookRead = { readonly call: HookCall } | { readonly unknown: string } | { readonly problem: string }

export function readHook(host: HookHost, text: string): HookRead {
  let payload: unknown
  try {
    payload = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { problem: `what ${host} handed over is not JSON` }
  }
  if (!isObject(payload)) return { problem: `what ${host} handed over is not an object` }
  const name = textIn(payload, 'hook_event_name')
  if (name === undefined) return { problem: `what ${host} handed over has no hook_event_name` }
  const event = Object.hasOwn(HOOKS[host].events, name) ? HOOKS[host].events[name] : undefined
  // Nobody is asked anything: a talk that lies idle, a login that went well.
  if (event === undefined || /^(?:idle_prompt|auth_success)$/.test(textIn(payload, 'notification_type') ?? ''))
    return { unknown: name }
  return {
    call: {
      host,
      event,
      name,
      sessionId: textIn(payload, 'session_id') ?? textIn(payload, 'conversation_id'),
      cwd: textIn(payload, 'cwd') ?? firstText(payload['workspace_roots']),
      transcript: textIn(payload, 'transcript_path'),
      tool: toolIn(host, payload),
      reason: textIn(payload, 'source') ?? textIn(payload, 'reason'),
      question: questionIn(payload),
    },
  }
}

function toolIn(host: HookHost, payload: Readonly<Record<string, unknown>>): HookTool | undefined {
  const name = textIn(payload, 'tool_name')
  if (name === undefined) return undefined
  const input = isObject(payload['tool_input']) ? payload['tool_input'] : {}
  const isMcp = /^mcp_|^MCP[:_]/.test(name)
  const writes = isMcp || !Object.hasOwn(HOOKS[host].tools, name) ? undefined : HOOKS[host].tools[name]
  return {
    name,
    useId: textIn(payload, 'tool_use_id'),
    isMcp,
    isShell: writes !== undefined && 'shell' in writes,
    ...written(writes, input),
  }
}

const NONE: ShellWrites = {
  targets: [],
  diffs: [],
  bypass: null,
  commit: null,
  losses: [],
  aliases: [],
  runs: [],
  isUnread: false,
}

function written(writes: ToolWrites | undefined, input: Readonly<Record<string, unknown>>): ShellWrites {
  if (writes === undefined) return NONE
  if ('shell' in writes) {
    const command = textIn(input, writes.shell)
    return command === undefined ? { ...NONE, isUnread: true } : { ...NONE, ...shellWrites(command) }
  }
  const paths =
    'patch' in writes
      ? patchPaths(textIn(input, writes.patch) ?? textIn(input, 'patch') ?? textIn(input, 'input') ?? '')
      : writes.path.flatMap((key) => textIn(input, key) ?? []).slice(0, 1)
  if (paths.length === 0) return { ...NONE, isUnread: true }
  return { ...NONE, targets: paths.map((path) => ({ path, cwd: '', isPattern: false })) }
}

/** One line for a person: the tool that wants leave, or what the host says. That it is about leave is among the words, by which waits are told apart. */
function questionIn(payload: Readonly<Record<string, unknown>>): string | undefined {
  const tool = textIn(payload, 'tool_name')
  const message = textIn(payload, 'message')
  if (tool === undefined) {
    const isLeave = /permission/i.test(textIn(payload, 'notification_type') ?? '')
    return message === undefined || !isLeave || /permission/i.test(message) ? message : `permission: ${message}`
  }
  const input = isObject(payload['tool_input']) ? payload['tool_input'] : {}
  const what = textIn(input, 'command') ?? textIn(input, 'file_path') ?? message
  return `permission for ${tool}${what === undefined ? '' : `: ${what}`}`
}

const textIn = (value: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const found = value[key]
  return typeof found === 'string' && found !== '' ? found : undefined
}

const firstText = (value: unknown): string | undefined =>
  Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined
