// Paths into arguments, as `args.at` writes them: `env.NAME`, `files[*].path`, `headers["x.y"]`, `env.*`.
import { ARGS_DEPTH_MAX, ARGS_VALUES_MAX } from '../../limits.ts'
import { likeness } from '../bundle/likeness.ts'

/** A name of a member, the place of an item, or every member (`*`) or item (`[*]`). */
export type Segment =
  | { readonly kind: 'member'; readonly name: string; readonly like: string }
  | { readonly kind: 'item'; readonly index: number }
  | { readonly kind: 'members' }
  | { readonly kind: 'items' }

const SEGMENT = /(?:^|\.)(?:(\*)(?=$|[.[])|([^.[\]*"]+))|\[(?:(\*)|(\d{1,6})|("(?:[^"\\]|\\.)+"))\]/y

/** The segments, or why the text is no path. */
export function parseArgPath(text: string): readonly Segment[] | string {
  const segments: Segment[] = []
  SEGMENT.lastIndex = 0
  while (SEGMENT.lastIndex < text.length) {
    const at = SEGMENT.lastIndex
    const found = SEGMENT.exec(text)
    if (found === null)
      return `cannot be read from ${JSON.stringify(text.slice(at, at + 20))} on; write a.b, a[*].b, a[0] or a["b.c"]`
    const [, everyMember, name, everyItem, index, quoted] = found
    if (everyMember !== undefined) segments.push({ kind: 'members' })
    else if (everyItem !== undefined) segments.push({ kind: 'items' })
    else if (index !== undefined) segments.push({ kind: 'item', index: Number(index) })
    else segments.push(member(quoted === undefined ? (name ?? '') : unquoted(quoted)))
  }
  return segments.length > ARGS_DEPTH_MAX ? `is deeper than ${ARGS_DEPTH_MAX} levels` : segments
}

function member(name: string): Segment {
  return { kind: 'member', name, like: likeness(name) }
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, '$1')
}

/** How many values one look at arguments may still meet. */
export interface Looks {
  left: number
}

export function newLooks(): Looks {
  return { left: ARGS_VALUES_MAX }
}

/** What a look finds out, from what is sure to what is not. */
export type ArgFound = boolean | 'ambiguous' | 'unknown'

/** Whether some value at the path passes. A member whose name only resembles the one that is asked for makes it ambiguous. */
export function someAt(
  value: unknown,
  segments: readonly Segment[],
  from: number,
  looks: Looks,
  test: (value: unknown) => ArgFound,
): ArgFound {
  const segment = segments[from]
  looks.left -= 1
  if (looks.left < 0) return 'unknown'
  if (segment === undefined) return test(value)
  if (typeof value !== 'object' || value === null) return false
  const next = (inner: unknown): ArgFound => someAt(inner, segments, from + 1, looks, test)
  if (segment.kind === 'items') return Array.isArray(value) ? anyOf(value, next) : false
  if (segment.kind === 'item')
    return Array.isArray(value) && segment.index < value.length ? next(value[segment.index]) : false
  if (Array.isArray(value)) return false
  if (segment.kind === 'members') return anyOf(Object.values(value), next)
  for (const key of Object.keys(value)) if (key !== segment.name && likeness(key) === segment.like) return 'ambiguous'
  return Object.hasOwn(value, segment.name) ? next((value as Readonly<Record<string, unknown>>)[segment.name]) : false
}

/** True where one is; else what is least sure. */
export function anyOf<T>(items: readonly T[], test: (item: T) => ArgFound): ArgFound {
  let found: ArgFound = false
  for (const item of items) {
    const one = test(item)
    if (one === true) return true
    if (one !== false && found !== 'ambiguous') found = one
  }
  return found
}
