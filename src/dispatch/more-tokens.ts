// A top-up in words: how many more tokens a task may take.

/** Nothing for what is no whole number of them. */
export function tokensIn(text: string): number | undefined {
  const [, digits] = /^\s*\+?\s*(\d{1,12})\s*(?:more\s+)?(?:tokens?)?\s*$/i.exec(text) ?? []
  const tokens = Number(digits ?? 0)
  return tokens > 0 ? tokens : undefined
}

export const TOKENS_WANTED = 'answer with the number of additional tokens, such as 4000'
