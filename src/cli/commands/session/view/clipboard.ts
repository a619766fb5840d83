// Handing text to the clipboard of a terminal (OSC 52). Never asking for it.
import { CLIPBOARD_CHARS_MAX } from '../../../../limits.ts'

/** Nothing for more than a terminal takes. */
export function clipboardSequence(text: string): string | undefined {
  const written = Buffer.from(text).toString('base64')
  return written.length > CLIPBOARD_CHARS_MAX ? undefined : `\u001b]52;c;${written}\u0007`
}

/** What is said of it, in words and in fewer words. */
export function clipboardWords(text: string, isTaken: boolean): readonly string[] {
  const count = Array.from(text).length
  const said = `${count} characters ${isTaken ? 'handed to this terminal’s clipboard' : 'too much to copy'}`
  return [`${said}; Shift and drag selects without hm`, said, isTaken ? 'copied' : 'too much']
}
