// When this browser last looked at the changes of an agent: kept here alone, for a few hundred agents.
const KEY = 'heimdall.looks'
const LOOKS_MAX = 300

type Looks = Readonly<Record<string, string>>

function read(): Looks {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Looks
  } catch (error) {
    // Storage that is switched off, or text that is not ours: nobody has looked yet.
    if (error instanceof DOMException || error instanceof SyntaxError) return {}
    throw error
  }
}

/** As it was when the page was opened: looking now does not make the look before it go away. */
const before = read()

export const lookedBefore = (agent: string): string | null => before[agent] ?? null

export function looked(agent: string, at: string): void {
  const { [agent]: _, ...others } = read()
  const kept = Object.entries(others).slice(-(LOOKS_MAX - 1))
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...Object.fromEntries(kept), [agent]: at }))
  } catch (error) {
    // Full or switched off: the next look has no look before it, and says so by not offering it.
    if (!(error instanceof DOMException)) throw error
  }
}
