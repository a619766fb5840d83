// The members of a JSON object as bytes, each one where it stands: also those that are named twice, which parsing would lose.
import { decode } from './scanned.ts'

export interface MemberBytes {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** `bytes` must be one object in valid JSON. */
export function membersOf(bytes: Buffer): readonly MemberBytes[] {
  const members: MemberBytes[] = []
  let depth = 0
  let name: string | null = null
  let from = -1
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number
    const start = i
    if (byte === 0x22) {
      i = endOfString(bytes, i)
      if (depth === 1 && name === null) {
        name = decode(bytes.toString('utf8', start, i + 1))
        continue
      }
    }
    const isEnd = depth === 1 && (byte === 0x2c || byte === 0x7d)
    if (isEnd && name !== null && from >= 0) {
      members.push({ name, from, to: i })
      name = null
      from = -1
    } else if (depth === 1 && name !== null && from < 0 && byte > 0x20 && byte !== 0x3a) from = start
    if (byte === 0x7b || byte === 0x5b) depth += 1
    else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return members
}

/** Index of the quote that ends the string which begins at `start`. */
export function endOfString(bytes: Buffer, start: number): number {
  let i = start + 1
  while (bytes[i] !== 0x22) i += bytes[i] === 0x5c ? 2 : 1
  return i
}
