// JSON for standard output, which may be a terminal: what a terminal obeys or hides is escaped, and parses to the same.

/** C1 controls, bidi and zero-width marks, annotations and tags; JSON itself escapes the other controls. */
const OBEYED =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

export function safeJson(value: unknown, indent?: number): string {
  return safeJsonText(JSON.stringify(value, null, indent))
}

/** The same for JSON that somebody else has written, whose numbers must not be read and written anew. */
export function safeJsonText(text: string): string {
  return text.replaceAll(OBEYED, (chars) =>
    chars
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
