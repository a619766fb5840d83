// Gemini CLI's chats: a message is written when it is said and again when its tools have answered; the last line of an id counts.
import type { TokenCounts } from '../../token-counts.ts'
import { countOf, lineObject, noFacts, objectOf, textOf, timeOf, type UsageReader } from './usage.ts'

export function geminiChat(): UsageReader {
  const facts = noFacts()
  return {
    marks: ['"sessionId"', '"type":"gemini"'],
    facts,
    read(line) {
      const entry = lineObject(line)
      if (entry === undefined) return 'strange'
      if (entry['type'] !== 'gemini') {
        facts.session ??= textOf(entry['sessionId'])
        return undefined
      }
      facts.messages += 1
      // A message that was broken off before it was counted.
      if (entry['tokens'] === undefined || entry['tokens'] === null) return undefined
      const id = textOf(entry['id'])
      const tokens = tokensOf(entry['tokens'])
      if (id === null || tokens === undefined) return 'strange'
      facts.usages += 1
      return { id, model: textOf(entry['model']), atMs: timeOf(entry['timestamp']), tokens }
    },
  }
}

/** Input is told with what was cached in it, output without what was thought; what tools were asked for is input too. */
function tokensOf(value: unknown): TokenCounts | undefined {
  const told = objectOf(value)
  if (told?.['input'] === undefined || told['output'] === undefined) return undefined
  const whole = countOf(told['input'])
  const cached = countOf(told['cached'])
  const tool = countOf(told['tool'])
  const said = countOf(told['output'])
  const reasoning = countOf(told['thoughts'])
  if (whole === undefined || cached === undefined || tool === undefined) return undefined
  if (said === undefined || reasoning === undefined || cached > whole) return undefined
  return {
    input: whole - cached + tool,
    cached,
    cache_write: 0,
    cache_write_1h: 0,
    output: said + reasoning,
    reasoning,
  }
}
