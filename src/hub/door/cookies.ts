// What a browser shows: the one cookie of the hub, how it is set and found among others of the same host; and the pass.
import type { IncomingMessage } from 'node:http'

/** Cookies do not tell ports apart, so the name does: two hubs of one user do not throw each other's visitors out. */
const nameOf = (port: number): string => `heimdall_${port}`

export function cookieFor(port: number, token: string, maxAgeS: number, isTunnel: boolean): string {
  const secure = isTunnel ? '; Secure' : ''
  return `${nameOf(port)}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`
}

/** Where a request has the pass: in a header, or in the address of what a browser opens without headers of ours. */
export const PASS_HEADER = 'x-heimdall-pass'
export const PASS_PARAMETER = 'pass'

export function passIn({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): string | undefined {
  const shown = headers[PASS_HEADER]
  if (shown !== undefined) return typeof shown === 'string' ? shown : undefined
  const [first, ...more] = new URLSearchParams(/\?(.*)$/s.exec(url ?? '')?.[1]).getAll(PASS_PARAMETER)
  return more.length === 0 ? first : undefined
}

/** Of a cookie that is there twice, nothing: somebody else has set one of them. */
export function tokenIn(header: string | undefined, port: number): string | undefined {
  const name = nameOf(port)
  const found = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return found.length === 1 ? found[0] : undefined
}
