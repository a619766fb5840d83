// The cost of models in one line: dollars where prices are known, and tokens.
import type { UsageTotal } from '../../runs/owned-run.ts'

export function costText({ messages, tokens, usd, unpriced, unread, prices }: UsageTotal): string {
  const { input, cached, cache_write: written, output } = tokens
  const parts = [
    `$${usd.toFixed(usd < 1 ? 4 : 2)} at prices of ${prices}`,
    `${messages} messages`,
    `input ${input} + ${cached} cached${written === 0 ? '' : ` + ${written} written to the cache`}, output ${output} tokens`,
    unpriced.length === 0 ? '' : `without a price, in tokens only: ${unpriced.join(', ')}`,
    unread === 0 ? '' : `${unread} lines of transcripts were not understood`,
  ]
  return parts.filter((part) => part !== '').join('; ')
}
