// All texts of a call: every string in its arguments at any depth, and lists of words also as the line that they make up.
import { ARGS_DEPTH_MAX } from '../limits.ts'
import { type Looks, newLooks } from './arg-path.ts'

let lastArgs: object | null = null
let lastTexts: readonly string[] | null = null

/** Null when there are more values, or deeper ones, than anybody looks at. */
export function textsOf(args: object): readonly string[] | null {
  // Several rules of a policy ask of one call.
  if (args === lastArgs) return lastTexts
  const texts: string[] = []
  lastTexts = collect(args, 0, newLooks(), texts) ? texts : null
  lastArgs = args
  return lastTexts
}

function collect(value: unknown, depth: number, looks: Looks, texts: string[]): boolean {
  looks.left -= 1
  if (looks.left < 0 || depth > ARGS_DEPTH_MAX) return false
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) {
    // `["git", "push", "--force"]` is a command line to whoever runs it.
    if (value.length > 1 && value.every((item) => typeof item === 'string')) texts.push(value.join(' '))
    for (const item of value) if (!collect(item, depth + 1, looks, texts)) return false
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value))
      if (!collect((value as Readonly<Record<string, unknown>>)[key], depth + 1, looks, texts)) return false
  }
  return true
}
