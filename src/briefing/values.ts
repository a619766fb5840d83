// What may be stored as a value: bounded, not empty, and without control characters that no reader expects.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'

// Tab and newline are text; they are escaped wherever a value becomes a row.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
const LONE_SURROGATE = /\p{Cs}/u

/** Returns `text` unchanged or refuses it; a value is never cleaned up behind its author's back. */
export function checkText(what: string, text: string, bytesMax: number): string {
  if (text === '') throw new HeimdallError('VALUE_INVALID', `${what} is empty`)
  const bytes = Buffer.byteLength(text)
  if (bytes > bytesMax)
    throw invalid(`${what} has ${bytes} bytes, limit ${bytesMax}`, 'put it into a file and refer to its path')
  const control = CONTROL.exec(text)?.[0]
  if (control !== undefined)
    throw invalid(
      `${what} holds the control character ${printable(control)}`,
      'tabs and newlines are the only control characters allowed',
    )
  if (LONE_SURROGATE.test(text)) throw invalid(`${what} holds half of a surrogate pair`, 'pass valid Unicode text')
  return text
}

function invalid(message: string, hint: string): HeimdallError {
  return new HeimdallError('VALUE_INVALID', message, { hint })
}
