// The members of an object, or the items of an array, as positions in its text.
import { JsonReader } from './json-reader.ts'

export interface JsonChild {
  /** Of a member of an object; empty for an item of an array. */
  readonly name: string
  readonly from: number
  readonly to: number
}

/** The members of an object or the items of an array, each where it is: also members that are named twice. Empty where the text is neither. */
export function childrenOf(bytes: Buffer): readonly JsonChild[] {
  const children: JsonChild[] = []
  let depth = 0
  let name = ''
  let from = 0
  const reader = new JsonReader(
    {
      open(_, at) {
        if (depth === 1) from = at
        depth += 1
      },
      close(_, to) {
        depth -= 1
        if (depth === 1) children.push({ name, from, to })
      },
      key(token) {
        if (depth === 1) name = token.text
      },
      scalar(_, token) {
        if (depth === 1) children.push({ name, from: token.at, to: token.end })
      },
    },
    { isLenient: true },
  )
  reader.push(bytes)
  return children
}
