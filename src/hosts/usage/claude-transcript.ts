// Claude Code's transcripts: one line for each block of a message, each with the usage of the whole message.
import type { TokenCounts } from '../../token-counts.ts'
import {
  countOf,
  lineObject,
  type MessageUsage,
  noFacts,
  objectOf,
  type SessionTotal,
  textOf,
  timeOf,
  type UsageReader,
} from './usage.ts'

/** Words of the program itself, such as an error of the network: no model has said them. */
const SYNTHETIC = '<synthetic>'

export function claudeTranscript(): UsageReader {
  const facts = noFacts()
  return {
    marks: ['"type":"assistant"', '"usage"', '"type":"cost-state"'],
    facts,
    read(line) {
      const entry = lineObject(line)
      if (entry === undefined) return 'strange'
      if (entry['type'] === 'cost-state') return totalOf(entry['modelUsage']) ?? 'strange'
      if (entry['type'] !== 'assistant') return undefined
      facts.version = textOf(entry['version']) ?? facts.version
      facts.session = textOf(entry['sessionId']) ?? facts.session
      facts.cwd ??= textOf(entry['cwd'])
      facts.messages += 1
      const message = objectOf(entry['message'])
      const usage = objectOf(message?.['usage'])
      const id = textOf(message?.['id'])
      const model = textOf(message?.['model'])
      if (model === SYNTHETIC) return undefined
      const tokens = usage === undefined ? undefined : tokensOf(usage)
      if (id === null || tokens === undefined) return 'strange'
      facts.usages += 1
      return { id, model, atMs: timeOf(entry['timestamp']), tokens } satisfies MessageUsage
    },
  }
}

function totalOf(value: unknown): SessionTotal | undefined {
  const models = objectOf(value)
  if (models === undefined) return undefined
  const totals = new Map<string, TokenCounts>()
  for (const [model, used] of Object.entries(models)) {
    const told = objectOf(used)
    const tokens = tokensOf({
      input_tokens: told?.['inputTokens'],
      cache_read_input_tokens: told?.['cacheReadInputTokens'],
      cache_creation_input_tokens: told?.['cacheCreationInputTokens'],
      cache_creation: { ephemeral_1h_input_tokens: told?.['cacheCreationEphemeral1hInputTokens'] },
      output_tokens: told?.['outputTokens'],
      output_tokens_details: { thinking_tokens: told?.['thinkingTokens'] },
    })
    if (tokens === undefined) return undefined
    totals.set(model, tokens)
  }
  return { totals }
}

function tokensOf(usage: Readonly<Record<string, unknown>>): TokenCounts | undefined {
  if (usage['input_tokens'] === undefined || usage['output_tokens'] === undefined) return undefined
  const input = countOf(usage['input_tokens'])
  const cached = countOf(usage['cache_read_input_tokens'])
  const written = countOf(usage['cache_creation_input_tokens'])
  const writtenLong = countOf(objectOf(usage['cache_creation'])?.['ephemeral_1h_input_tokens'])
  const output = countOf(usage['output_tokens'])
  const reasoning = countOf(objectOf(usage['output_tokens_details'])?.['thinking_tokens'])
  if (input === undefined || cached === undefined || written === undefined) return undefined
  if (writtenLong === undefined || output === undefined || reasoning === undefined) return undefined
  return { input, cached, cache_write: written, cache_write_1h: writtenLong, output, reasoning }
}
