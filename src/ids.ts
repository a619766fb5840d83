// Ids: the grammar that every id of ours obeys.
import { HeimdallError } from './errors.ts'

/** One grammar for everything that may become a file name: no separator, no leading dot, no control character. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export function isId(text: string): boolean {
  return ID_PATTERN.test(text)
}

/** Returns `text` unchanged or refuses it; ids are never cleaned up, because a cleaned id is somebody else's id. */
export function parseId(what: string, text: string): string {
  if (isId(text)) return text
  throw new HeimdallError('ID_INVALID', `${what} ${printable(text)} is not a valid id`, {
    hint: 'use 1 to 64 letters, digits, dots, underscores or hyphens, starting with a letter or digit',
  })
}

/** A hostile string as it may be shown in a message: quoted, controls and bidi marks escaped, cut at 80 characters. */
export function printable(text: string): string {
  const cut = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return escapeControls(JSON.stringify(cut))
}

/** The text with nothing in it that a terminal obeys or hides: controls and bidi marks as \uXXXX. */
export function escapeControls(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- they are what it is about
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The same for a text of several lines: line feeds and tabs stay. */
export function escapeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : escapeControls(part)))
    .join('')
}
