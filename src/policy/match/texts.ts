// All texts of a call: every string and key in its arguments at any depth, and lists of words also as the line that they make up.
import { ARGS_DEPTH_MAX } from '../../limits.ts'
import { type Looks, newLooks } from './arg-path.ts'

let lastArgs: object | null = null
let lastTexts: readonly string[] | null = null

/** Null when there are more values, or deeper ones, than anybody looks at. */
export function textsOf(args: object): readonly string[] | null {
  // Several rules of a policy ask of one call.
  if (args === lastArgs) return lastTexts
  const texts: string[] = []
  lastTexts = collect(args, 0, newLooks(), texts, null) ? texts : null
  lastArgs = args
  return lastTexts
}

/** `line` takes the words of the outermost list that the value stands in; null where it stands in none. */
function collect(value: unknown, depth: number, looks: Looks, texts: string[], line: string[] | null): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (isWord(value)) line?.push(String(value))
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) return collectList(value, depth, looks, texts, line)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      texts.push(key)
      if (!collect(inner, depth + 1, looks, texts, null)) return false
    }
  }
  return true
}

/** `["git", "push", 1, "--force"]` is a command line to whoever runs it, and so is `[["git", "push"], "--force"]`. */
function collectList(
  list: readonly unknown[],
  depth: number,
  looks: Looks,
  texts: string[],
  line: string[] | null,
): boolean {
  const words = list.filter(isWord)
  if (words.length > 1) texts.push(words.join(' '))
  // Only the outermost list is flattened: one line for each level would make many times the text of the call.
  const whole = line ?? []
  for (const item of list) if (!collect(item, depth + 1, looks, texts, whole)) return false
  if (line === null && whole.length > Math.max(words.length, 1)) texts.push(whole.join(' '))
  return true
}

function isWord(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
