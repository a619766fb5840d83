// The flags of a search as a search.
import type { Clock } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Search } from '../../../runs/index/search.ts'
import { momentIn } from '../../moment-in.ts'

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

function moment(flag: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = momentIn(text, nowMs)
  if (ms !== undefined) return ms
  throw new HeimdallError(
    'USAGE',
    `${flag} takes how long ago (90s, 2h, 7d) or a time (2026-11-16, 2026-11-16T08:00Z), got ${printable(text)}`,
  )
}
