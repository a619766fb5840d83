// JSON for standard output: characters that a terminal interprets or hides are escaped; the value stays the same.

/** C1 controls, bidi and zero-width marks, annotations and tags; JSON itself escapes the other controls. */
const UNSAFE =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

export function safeJson(value: unknown, indent?: number): string {
  return safeJsonText(JSON.stringify(value, null, indent))
}

/** For JSON of other programs, whose numbers must not be parsed and printed again. */
export function safeJsonText(text: string): string {
  return text.replaceAll(UNSAFE, (chars) =>
    chars
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
