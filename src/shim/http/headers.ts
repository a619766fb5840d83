// Which headers go on, each way. All others do, as they were written and in their order.

/** They are about one connection, not about what it carries (RFC 9110 §7.6.1). */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * What we say ourselves to the server: where it is, how long the body is, and that we read no compressed answer. A page
 * that the request came from is looked at here and is nobody else's business.
 */
const OURS_UPSTREAM: ReadonlySet<string> = new Set([
  ...OF_A_CONNECTION,
  'host',
  'origin',
  'referer',
  'content-length',
  'accept-encoding',
  'expect',
])
const NOT_TO_CLIENT: ReadonlySet<string> = new Set(OF_A_CONNECTION)

/** Names and values in turn, as Node.js has and takes them. */
export type RawHeaders = readonly string[]

export const toServer = (raw: RawHeaders): string[] => without(raw, OURS_UPSTREAM)
export const toClient = (raw: RawHeaders): string[] => without(raw, NOT_TO_CLIENT)

function without(raw: RawHeaders, left: ReadonlySet<string>): string[] {
  const named = new Set(
    valuesOf(raw, 'connection').flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())),
  )
  const passed: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string
    const key = name.toLowerCase()
    if (!left.has(key) && !named.has(key)) passed.push(name, raw[i + 1] as string)
  }
  return passed
}

export function valuesOf(raw: RawHeaders, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2)
    if ((raw[i] as string).toLowerCase() === name) values.push(raw[i + 1] as string)
  return values
}

/** Sets headers in place of what was there under their names. */
export function replaced(raw: RawHeaders, by: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(by).map((name) => name.toLowerCase()))
  return [...without(raw, names), ...Object.entries(by).flat()]
}
