// Codex's rollout files: a record of usage for each request, and beside them a count of the whole thread that only grows.
import type { TokenCounts } from '../../token-counts.ts'
import {
  COUNTS,
  countOf,
  isNothing,
  lineObject,
  type MessageUsage,
  minusTokens,
  NO_TOKENS,
  noFacts,
  objectOf,
  plusTokens,
  textOf,
  timeOf,
  type UsageReader,
} from './usage.ts'

export function codexRollout(): UsageReader {
  const facts = noFacts()
  let model: string | null = null
  let thread = ''
  /** Of this thread, by what its requests have told; what the count says beyond it was asked for without a record. */
  let told = NO_TOKENS

  const ofRequest = (payload: Readonly<Record<string, unknown>>, atMs: number | null): MessageUsage | 'strange' => {
    const id = textOf(payload['response_id'])
    const tokens = tokensOf(payload['usage'])
    if (id === null || tokens === undefined) return 'strange'
    told = plusTokens(told, tokens)
    facts.usages += 1
    return { id, model, atMs, tokens }
  }

  /** Versions that write no records have only this. */
  const ofCount = (
    payload: Readonly<Record<string, unknown>>,
    atMs: number | null,
  ): MessageUsage | 'strange' | undefined => {
    const info = objectOf(payload['info'])
    // Before the first answer there is nothing to count.
    if (info === undefined) return undefined
    const total = tokensOf(info['total_token_usage'])
    if (total === undefined) return 'strange'
    facts.usages += 1
    const more = minusTokens(total, told)
    if (isNothing(more) || COUNTS.some((name) => more[name] < 0)) return undefined
    told = total
    const id = `${thread} ${COUNTS.map((name) => total[name]).join(' ')}`
    return { id, model, atMs, tokens: more }
  }

  return {
    marks: ['"session_meta"', '"turn_context"', '"token_usage_record"', '"token_count"'],
    facts,
    read(line) {
      const entry = lineObject(line)
      const payload = objectOf(entry?.['payload'])
      if (entry === undefined) return 'strange'
      if (payload === undefined) return undefined
      const atMs = timeOf(entry['timestamp'])
      switch (entry['type']) {
        case 'session_meta':
          facts.version = textOf(payload['cli_version'])
          facts.session = textOf(payload['session_id']) ?? textOf(payload['id'])
          facts.cwd = textOf(payload['cwd'])
          thread = textOf(payload['id']) ?? facts.session ?? ''
          facts.isSubagent = thread !== facts.session
          return undefined
        case 'turn_context':
          model = textOf(payload['model']) ?? model
          facts.messages += 1
          return undefined
        case 'token_usage_record':
          return ofRequest(payload, atMs)
        case 'event_msg':
          return payload['type'] === 'token_count' ? ofCount(payload, atMs) : undefined
        default:
          return undefined
      }
    },
  }
}

/** Input is told with what was cached in it. */
function tokensOf(value: unknown): TokenCounts | undefined {
  const usage = objectOf(value)
  if (usage?.['input_tokens'] === undefined || usage['output_tokens'] === undefined) return undefined
  const whole = countOf(usage['input_tokens'])
  const cached = countOf(usage['cached_input_tokens'])
  const written = countOf(usage['cache_write_input_tokens'])
  const output = countOf(usage['output_tokens'])
  const reasoning = countOf(usage['reasoning_output_tokens'])
  if (whole === undefined || cached === undefined || written === undefined) return undefined
  if (output === undefined || reasoning === undefined) return undefined
  const input = whole - cached - written
  return input < 0 ? undefined : { input, cached, cache_write: written, cache_write_1h: 0, output, reasoning }
}
