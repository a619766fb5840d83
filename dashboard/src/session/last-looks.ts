// When the changes of an agent were last shown in this browser, for the choice "since you last looked".
const KEY = 'heimdall.looks'
const LOOKS_MAX = 300

type Looks = Readonly<Record<string, string>>

function read(): Looks {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Looks
  } catch (error) {
    // Storage that is disabled, or text of another program.
    if (error instanceof DOMException || error instanceof SyntaxError) return {}
    throw error
  }
}

/** From before the page was loaded: a look at the changes now does not replace the last one. */
const lastLooks = read()

export const lastLookAt = (agent: string): string | null => lastLooks[agent] ?? null

export function noteLook(agent: string, at: string): void {
  const { [agent]: _, ...others } = read()
  const kept = Object.entries(others).slice(-(LOOKS_MAX - 1))
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...Object.fromEntries(kept), [agent]: at }))
  } catch (error) {
    // Full or disabled: the next visit does not offer the choice.
    if (!(error instanceof DOMException)) throw error
  }
}
