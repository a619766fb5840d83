// What is said of a server's tools: in the record, on stderr, and to the session whose person is to look at them.
import type { EventText } from '../../events/event-text.ts'
import { cutAtBytes } from '../../events/preview.ts'
import type { Redact } from '../../events/redact.ts'
import { PIN_EVENT_DIFF_BYTES, PIN_EVENT_TOOLS_MAX } from '../../limits.ts'
import type { SessionNotice } from '../call/session-notice.ts'
import { difference } from '../../pins/difference.ts'
import type { ToolChange } from './sight.ts'
import type { PinNews } from './tool-pins.ts'

export interface PinNewsOptions {
  readonly serverName: string
  readonly redact: Redact
  readonly notice: SessionNotice
  readonly say: (put: (text: EventText) => void) => void
  readonly note: (line: string) => void
}

export function pinNews({ serverName, redact, notice, say, note }: PinNewsOptions): PinNews {
  return {
    seen({ pinned, changes, reachedBefore }, reached) {
      if (pinned.length > 0) {
        const tools = pinned.map(({ name, hash }) => ({ tool_name: redact(name), hash }))
        say((text) => text.toolPins('tools_pinned', { server_name: serverName, ...few(tools) }))
      }
      if (changes.length === 0 && reachedBefore === null) return
      const isCritical = changes.some(({ change }) => change === 'changed')
      say((text) =>
        text.toolPins('tools_changed', {
          server_name: serverName,
          severity: isCritical ? 'critical' : 'warn',
          ...few(shownChanges(changes, redact)),
          ...(reachedBefore === null ? {} : { reached: { before: reachedBefore.text, now: reached.text } }),
        }),
      )
      if (changes.length > 0)
        note(`tools are not as they were pinned, ${countOf(changes)}: heimdall mcp pins show ${serverName}`)
    },
    approved(name, { tools }) {
      const pin = tools.get(name)?.pinned.at(-1)
      say((text) =>
        text.toolPins('tools_approved', {
          server_name: serverName,
          tools: [{ tool_name: redact(name), hash: pin?.hash ?? null }],
          approved_by: pin?.by ?? null,
          approved_at: pin?.at ?? null,
        }),
      )
    },
    waiting(isWaiting) {
      if (isWaiting)
        notice.needsInput('pins', `${serverName} has tools to be approved (heimdall mcp pins show ${serverName})`)
      else notice.settled('pins')
    },
  }
}

/** As many as an event can hold. */
function few<T>(tools: readonly T[]): { readonly tools: readonly T[]; readonly more?: number } {
  const more = tools.length - PIN_EVENT_TOOLS_MAX
  return { tools: tools.slice(0, PIN_EVENT_TOOLS_MAX), ...(more > 0 ? { more } : {}) }
}

function shownChanges(changes: readonly ToolChange[], redact: Redact): object[] {
  const bytesEach = Math.floor(PIN_EVENT_DIFF_BYTES / Math.min(changes.length, PIN_EVENT_TOOLS_MAX))
  return changes.map(({ name, change, pinned, shown }, i) => {
    const at = { tool_name: redact(name), change, pinned_hash: pinned?.hash ?? null, shown_hash: shown?.hash ?? null }
    // What is counted only is not compared either.
    if (change === 'removed' || i >= PIN_EVENT_TOOLS_MAX) return at
    const { fields, lines } = difference(pinned?.text ?? null, shown?.text ?? null)
    const whole = redact(lines.join('\n'))
    const diff = cutAtBytes(whole, bytesEach)
    return { ...at, fields: fields.map(redact), diff, is_cut: diff !== whole }
  })
}

function countOf(changes: readonly ToolChange[]): string {
  const count = (kind: ToolChange['change']): number => changes.filter(({ change }) => change === kind).length
  return (['changed', 'added', 'removed'] as const)
    .filter((kind) => count(kind) > 0)
    .map((kind) => `${count(kind)} ${kind}`)
    .join(', ')
}
