// JSON objects that stand in prose, as plain peers write them: with words around them, or between fences.
import { JSON_IN_TEXT_TRIES_MAX } from '../../limits.ts'

/** Whole objects at the outermost level, in order. What is none is passed over. */
export function objectsIn(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = []
  let at = text.indexOf('{')
  for (let tries = 0; at !== -1 && tries < JSON_IN_TEXT_TRIES_MAX; tries += 1) {
    const end = endOf(text, at)
    const value = end === undefined ? undefined : parsed(text.slice(at, end))
    if (value !== undefined) found.push(value)
    at = text.indexOf('{', value === undefined || end === undefined ? at + 1 : end)
  }
  return found
}

/** Behind the brace that closes the one at `from`; braces in strings do not count. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0
  let isString = false
  for (let i = from; i < text.length; i += 1) {
    const letter = text[i]
    if (isString && letter === '\\') i += 1
    else if (letter === '"') isString = !isString
    else if (!isString && letter === '{') depth += 1
    else if (!isString && letter === '}') {
      depth -= 1
      if (depth === 0) return i + 1
    }
  }
  return undefined
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
