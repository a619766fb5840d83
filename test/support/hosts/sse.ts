// What the wire formats of models share: events as text, and the text in whatever a format wraps it in.

export interface ServerEvent {
  /** Google's format has no names. */
  readonly event?: string
  readonly data: unknown
}

export const eventText = ({ event, data }: ServerEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

/** The text of a string, of a list of blocks, or of what else stands there. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(asText).join('\n')
  const { text } = value as { text?: unknown }
  return typeof text === 'string' ? text : JSON.stringify(value)
}
