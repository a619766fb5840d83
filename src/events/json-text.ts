// JSON text for records and terminals: control, bidi and zero-width characters are escaped.

// JSON itself escapes C0 and lone surrogates. The other controls, line separators, bidi and zero-width marks are escaped here.
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/
const UNSAFE_ALL = new RegExp(UNSAFE, 'g')

/** Parses back to the same value. */
export function jsonValue(value: unknown): string {
  const json = JSON.stringify(value)
  return UNSAFE.test(json) ? json.replace(UNSAFE_ALL, escapeUnit) : json
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
