// What a value must be like to be injected and searched for.
import { SECRET_BYTES_MAX, SECRET_SEARCHED_BYTES_MIN, SECRET_SURE_BYTES_MIN } from '../../limits.ts'

/** Why the value can be no variable of a process, or null. */
export function whyNotValue(value: string): string | null {
  if (value === '') return 'is empty'
  if (value.includes('\0')) return 'holds a zero byte, which no variable can'
  // What was no UTF-8 has been replaced by this character on its way to us.
  if (value.includes('\ufffd') || Buffer.from(value).toString() !== value) return 'is not text in UTF-8'
  const bytes = Buffer.byteLength(value)
  return bytes > SECRET_BYTES_MAX ? `has ${bytes} bytes, limit ${SECRET_BYTES_MAX}` : null
}

/** So few letters stand in any text by chance. */
export const isTooShortToFind = (value: string): boolean => Buffer.byteLength(value) < SECRET_SEARCHED_BYTES_MIN

/** It is searched for, but other words will look like it. */
export const isShort = (value: string): boolean => Buffer.byteLength(value) < SECRET_SURE_BYTES_MIN
