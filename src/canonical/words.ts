// The three words of JSON, by their first letter.

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')
export const NO_WORD = Buffer.alloc(0)

export function wordOf(first: number): Buffer {
  if (first === TRUE[0]) return TRUE
  if (first === FALSE[0]) return FALSE
  return first === NULL[0] ? NULL : NO_WORD
}
