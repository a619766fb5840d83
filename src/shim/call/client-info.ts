// Who the client is: what it says of itself in the handshake, or since MCP has none, in each request.
import { CLIENT_META_BYTES_MAX } from '../../limits.ts'
import type { Generation } from './refusals.ts'
import type { Piece } from '../../events/preview.ts'
import type { CLIENTS } from '../../events/types.ts'
import { isObject } from '../../plain-object.ts'

/** The first revision of MCP without a handshake. */
const STATELESS_FROM = '2026-07-28'
const PREFIX = 'io.modelcontextprotocol/'
/** Sought in every request. */
const PREFIX_BYTES = Buffer.from(PREFIX)

export type ClientName = (typeof CLIENTS)[number]

export class ClientInfo {
  #onName: ((name: ClientName, said: string) => void) | null
  /** What the handshake agreed on; before one, and where a request does not say, the older generation. */
  #negotiated: Generation = 'handshake'

  /** `onName` is called once, when the client has said its name; null where it is known already. */
  constructor(onName: ((name: ClientName, said: string) => void) | null) {
    this.#onName = onName
  }

  /** `params` of an `initialize` request. */
  hearHandshake(params: Buffer): void {
    const said = parsed(params)
    this.#negotiated = generationNamed(said?.['protocolVersion']) ?? this.#negotiated
    this.#hearName(said?.['clientInfo'])
  }

  /** Whether anybody waits for its name. */
  get isUnnamed(): boolean {
    return this.#onName !== null
  }

  /** `_meta` of any request. */
  hearMeta(meta: Buffer): void {
    if (meta.includes(PREFIX_BYTES)) this.#hearName(parsed(meta)?.[`${PREFIX}clientInfo`])
  }

  /** As one request is to be read that says its revision beside its body; the name is for all. */
  speaking(version: string | undefined): ClientInfo {
    const one = new ClientInfo(this.isUnnamed ? (name, said) => this.#say(name, said) : null)
    one.#negotiated = generationNamed(version) ?? this.#negotiated
    return one
  }

  /** By the request itself where it says so. */
  generationOf(meta: Piece | undefined): Generation {
    const bytes = meta?.buffer.subarray(meta.from, meta.to)
    if (bytes === undefined || !bytes.includes(PREFIX_BYTES)) return this.#negotiated
    return generationNamed(parsed(bytes)?.[`${PREFIX}protocolVersion`]) ?? this.#negotiated
  }

  #hearName(info: unknown): void {
    const name = isObject(info) ? info['name'] : undefined
    if (typeof name !== 'string' || name === '') return
    this.#say(/claude/i.test(name) ? 'claude' : /codex/i.test(name) ? 'codex' : 'custom', name)
  }

  #say(name: ClientName, said: string): void {
    const onName = this.#onName
    this.#onName = null
    onName?.(name, said)
  }
}

function generationNamed(version: unknown): Generation | undefined {
  if (typeof version !== 'string' || !/^\d{4}-\d{2}-\d{2}/.test(version)) return undefined
  return version >= STATELESS_FROM ? 'stateless' : 'handshake'
}

/** The scan has found one object there; a larger one is nobody's introduction. */
function parsed(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (bytes.length > CLIENT_META_BYTES_MAX) return undefined
  const value: unknown = JSON.parse(bytes.toString())
  return isObject(value) ? value : undefined
}
