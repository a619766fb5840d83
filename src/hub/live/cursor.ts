// Where a feed goes on: the number of the last entry of coordination and of the last call of the run index that was told. Pure.

export interface Cursor {
  /** Of the coordination log. */
  readonly seq: number
  /** Of the run index. */
  readonly call: number
  /** Tells one index from another that was made anew, in which calls have other numbers. */
  readonly index: string
}

export const cursorText = ({ seq, call, index }: Cursor): string => `${seq}.${call}.${index}`

/** Nothing for a text that is none of ours. */
export function parseCursor(text: string | undefined): Cursor | undefined {
  const match = /^(\d{1,15})\.(\d{1,15})\.([0-9a-z-]{1,40})$/.exec(text ?? '')
  const [, seq, call, index] = match ?? []
  return seq === undefined || call === undefined || index === undefined
    ? undefined
    : { seq: Number(seq), call: Number(call), index }
}
