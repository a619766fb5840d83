// Who may use the proxy: programs of this machine that know its address. No web page, and no other user.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { valuesOf } from './headers.ts'

export interface Turned {
  readonly status: number
  readonly why: string
}

const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE'])

export class ProxyDoor {
  readonly #hosts: ReadonlySet<string>
  readonly #path: Buffer

  /** `path` is the secret; `port` the one that is listened on. */
  constructor(path: string, port: number) {
    this.#path = digest(path)
    this.#hosts = new Set(['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port}`))
  }

  /** Why a request is turned away, or null. */
  turnsAway({ rawHeaders, method = '', url = '' }: IncomingMessage): Turned | null {
    const hosts = valuesOf(rawHeaders, 'host')
    // A page of another site reaches us under that site's name, whatever address it resolves to (DNS rebinding).
    if (hosts.length !== 1 || !this.#hosts.has((hosts[0] ?? '').toLowerCase()))
      return { status: 403, why: 'this address answers to its own name only' }
    const origins = valuesOf(rawHeaders, 'origin')
    if (origins.some((origin) => !this.#hosts.has(origin.toLowerCase().replace(/^http:\/\//, ''))))
      return { status: 403, why: 'requests of web pages are not taken' }
    if (!timingSafeEqual(digest(url), this.#path)) return { status: 404, why: 'nothing is here' }
    if (!METHODS.has(method)) return { status: 405, why: 'POST, GET and DELETE are known' }
    if (method !== 'POST' && hasBody(rawHeaders)) return { status: 400, why: `${method} takes no body` }
    return null
  }
}

function hasBody(raw: readonly string[]): boolean {
  return (
    valuesOf(raw, 'transfer-encoding').length > 0 || valuesOf(raw, 'content-length').some((length) => length !== '0')
  )
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
