// The flags of a search as a search.
import type { Clock } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Search } from '../../../runs/index/search.ts'

type SearchFlags = Pick<
  Search,
  'run' | 'agent' | 'server' | 'tool' | 'decision' | 'rule' | 'reason' | 'status' | 'text'
> & { readonly since?: string | undefined; readonly until?: string | undefined }

export function searchOf(flags: SearchFlags, clock: Clock): Omit<Search, 'order'> {
  const { run, agent, server, tool, rule, reason, text } = flags
  const nowMs = clock.wallMs()
  return {
    run,
    agent,
    server,
    tool,
    rule,
    reason,
    text,
    // In capitals on the wire, and typed as one likes.
    decision: flags.decision?.toUpperCase(),
    status: flags.status?.toUpperCase(),
    sinceMs: moment('--since', flags.since, nowMs),
    untilMs: moment('--until', flags.until, nowMs),
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** So long ago, or a time; a day without an hour begins at midnight UTC. */
function moment(flag: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const parts = [...text.matchAll(/(\d{1,9})([smhdw])/g)]
  if (text !== '' && parts.map(([whole]) => whole).join('') === text)
    return nowMs - parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS_MS[unit ?? ''] ?? 0), 0)
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  const ms = isTime ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw new HeimdallError(
    'USAGE',
    `${flag} takes how long ago (90s, 2h, 7d) or a time (2026-11-16, 2026-11-16T08:00Z), got ${printable(text)}`,
  )
}
