// Strings as they may stand in a record: valid JSON in which nothing can disturb a terminal, a pager or a reader's eye.

// C0 is escaped by JSON itself. The rest of the controls, line separators, bidi and zero-width marks are not.
const UNSAFE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
const UNSAFE_ALL = new RegExp(UNSAFE, 'g')
// A string of these needs no escape at all, which is usual for names, hashes and ids.
const PLAIN = /^[ !#-[\]-~]*$/

/** The JSON text of a string; parses back to the same string. */
export function jsonString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  const json = JSON.stringify(text)
  return UNSAFE.test(json) ? json.replace(UNSAFE_ALL, escapeUnit) : json
}

/** The JSON text of any value, with every string of it safe. */
export function jsonValue(value: unknown): string {
  const json = JSON.stringify(value)
  return UNSAFE.test(json) ? json.replace(UNSAFE_ALL, escapeUnit) : json
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
