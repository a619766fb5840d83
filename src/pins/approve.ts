// What a person does with pins: says that what was shown is right, or that nothing is known any more. Pure.
import { createHash } from 'node:crypto'
import { HeimdallError } from '../errors.ts'
import { PIN_APPROVED_MAX } from '../limits.ts'
import type { ServerPins, Sight, ToolRecord } from './pins-file.ts'

export type ToolState = 'pinned' | 'changed' | 'new' | 'gone'

export function stateOf({ pinned, shown, gone_at }: ToolRecord): ToolState {
  if (pinned.length === 0) return 'new'
  if (shown.length > 0) return 'changed'
  return gone_at === null ? 'pinned' : 'gone'
}

/** The newest definition that nobody has approved. */
export const pendingOf = ({ shown }: ToolRecord): Sight | undefined => shown.at(-1)

/** One hash for all that waits to be approved: whoever approves by it approves what was there when it was shown. */
export function reviewHash({ tools }: ServerPins): string | null {
  const waiting = [...tools.values()].flatMap((tool) => {
    const pending = pendingOf(tool)
    return pending === undefined ? [] : [JSON.stringify([tool.name, pending.hash])]
  })
  return waiting.length === 0 ? null : createHash('sha256').update(waiting.sort().join('\n')).digest('hex')
}

export interface Approval {
  /** Of one tool; null for all that waits. */
  readonly toolName: string | null
  /** As it was shown, or its beginning. */
  readonly hash: string
  /** What was pinned before stays so as well, for a server that tells each client something else. */
  readonly isBeside: boolean
  readonly by: string
  readonly at: string
}

/** Refuses what is not what waits now. */
export function approved(
  pins: ServerPins,
  approval: Approval,
): { readonly pins: ServerPins; readonly names: readonly string[] } {
  const { toolName, hash, isBeside } = approval
  const approvals: { tool: ToolRecord; sight: Sight }[] = []
  if (toolName === null) {
    if (reviewHash(pins)?.startsWith(hash) !== true) throw changed('what waits to be approved')
    for (const tool of pins.tools.values()) {
      const sight = pendingOf(tool)
      if (sight !== undefined) approvals.push({ tool, sight })
    }
  } else {
    const tool = toolOf(pins, toolName)
    // Beside what is there, an older one may be approved too: servers that tell two clients two things alternate.
    const candidates = isBeside ? tool.shown : tool.shown.slice(-1)
    const sight = candidates.find((one) => one.hash.startsWith(hash))
    if (sight === undefined) throw changed(toolName)
    approvals.push({ tool, sight })
  }
  const tools = new Map(pins.tools)
  for (const { tool, sight } of approvals) tools.set(tool.name, approvedTool(tool, sight, approval))
  return { pins: { ...pins, tools }, names: approvals.map(({ tool }) => tool.name) }
}

function approvedTool(tool: ToolRecord, sight: Sight, { isBeside, by, at }: Approval): ToolRecord {
  const pin = { hash: sight.hash, text: sight.text, by, at }
  return {
    ...tool,
    pinned: isBeside ? [...tool.pinned, pin].slice(-PIN_APPROVED_MAX) : [pin],
    shown: isBeside ? tool.shown.filter((one) => one !== sight) : [],
  }
}

export function toolOf({ server_name: server, tools }: ServerPins, name: string): ToolRecord {
  const tool = tools.get(name)
  if (tool !== undefined) return tool
  throw new HeimdallError('PIN_NOT_FOUND', `nothing is known of a tool of that name on ${server}`, {
    hint: `heimdall mcp pins list ${server} shows its tools`,
  })
}

const changed = (what: string): HeimdallError =>
  new HeimdallError('PIN_CHANGED', `${what} is not what this hash was shown for`, {
    hint: 'look at it again with heimdall mcp pins show, and approve what it shows then',
  })
