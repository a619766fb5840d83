// Browsers that were let in, and the proofs that they and the hub exchange. The hub keeps public keys of browsers, a link's
// key never crosses the port, and a pass is valid for this process alone: a program that listens on the port before or
// after the hub receives nothing that it can use.
import { createHash, createHmac, createPublicKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_LINK_MS, HUB_LINKS_MAX, HUB_VISITOR_IDLE_MS, HUB_VISITORS_MAX } from '../../limits.ts'
import type { HelloReply, LoginReply, LoginRequest, PassRequest } from '../contract.ts'
import { type KeptVisitor, keepVisitors, readVisitors } from './visitors-file.ts'

export interface VisitorsOptions {
  /** File that keeps browsers signed in over a restart of the hub. */
  readonly path: string
  readonly clock: Clock
  readonly randomBytes: (count: number) => Buffer
}

const SECRET_BYTES = 32

/**
 * What is signed. Each text has its purpose, so that no proof passes for another, and the host that the browser has in
 * its address bar, so that no program on another port can relay a proof to the hub.
 */
const TEXTS = {
  login: (host: string, visitor: string) => `heimdall login\n${host}\n${visitor}`,
  welcome: (host: string, visitor: string, hub: string) => `heimdall welcome\n${host}\n${visitor}\n${hub}`,
  hello: (host: string, nonce: string, instance: string) => `heimdall hub\n${host}\n${nonce}\n${instance}`,
  visitor: (host: string, instance: string) => `heimdall visitor\n${host}\n${instance}`,
}

interface Link {
  readonly key: string
  readonly untilMs: number
}

export class Visitors {
  readonly #options: VisitorsOptions
  readonly #links = new Map<string, Link>()
  /** Of this process: browsers sign it, and passes are made with its secret. Dropped when the hub closes. */
  #instance: { readonly id: string; readonly secret: string } | undefined
  readonly #hubKey: KeyObject
  #visitors: readonly KeptVisitor[]

  constructor(options: VisitorsOptions) {
    this.#options = options
    const { hubKey, visitors } = readVisitors(options.path)
    this.#hubKey = hubKey
    this.#visitors = visitors
    this.#instance = { id: this.#random(), secret: this.#random() }
  }

  /** The key of a new one-time link. */
  link(): string {
    const { clock } = this.#options
    for (const [id, { untilMs }] of this.#links) if (untilMs < clock.monoMs()) this.#links.delete(id)
    const [oldest] = this.#links.keys()
    if (oldest !== undefined && this.#links.size >= HUB_LINKS_MAX) this.#links.delete(oldest)
    const key = this.#random()
    this.#links.set(sha256(key), { key, untilMs: clock.monoMs() + HUB_LINK_MS })
    return key
  }

  /** Takes in a browser that proves that it has the key of a link; undefined for a link that was used or is too old. */
  admit({ link: id, visitor, proof }: LoginRequest, host: string): LoginReply | undefined {
    const link = this.#links.get(id)
    if (link === undefined || link.untilMs < this.#options.clock.monoMs()) return undefined
    if (!isSame(proof, mac(link.key, TEXTS.login(host, visitor)))) return undefined
    this.#links.delete(id)
    publicKeyIn(visitor)
    const seenMs = this.#options.clock.wallMs()
    this.#keep([...this.#current(), { id: sha256(visitor), key: visitor, seenMs }])
    const hub = createPublicKey(this.#hubKey).export({ format: 'der', type: 'spki' }).toString('base64url')
    return { hub, proof: mac(link.key, TEXTS.welcome(host, visitor, hub)) }
  }

  /** Proves to a browser, which sends nothing else before, that this is the hub. */
  hello(nonce: string, host: string): HelloReply | undefined {
    if (this.#instance === undefined) return undefined
    const { id: instance } = this.#instance
    const text = Buffer.from(TEXTS.hello(host, nonce, instance))
    const proof = sign('sha256', text, { key: this.#hubKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
    return { instance, proof }
  }

  /** The pass of a browser that has signed the instance; undefined for one that is not known, or not known any more. */
  pass({ visitor: id, proof }: PassRequest, host: string): string | undefined {
    const visitor = this.#current().find((one) => one.id === id)
    if (visitor === undefined || this.#instance === undefined) return undefined
    const key = publicKeyIn(visitor.key)
    const text = Buffer.from(TEXTS.visitor(host, this.#instance.id))
    const isProved = verify('sha256', text, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(proof, 'base64url'))
    return isProved ? this.#passOf(id) : undefined
  }

  knows(pass: string): boolean {
    const visitor = this.#visitorOf(pass)
    if (visitor === undefined) return false
    const nowMs = this.#options.clock.wallMs()
    // Once an hour is enough to know who has not been here for a week.
    if (nowMs - visitor.seenMs > SEEN_STEP_MS)
      this.#keep([...this.#current().filter((one) => one !== visitor), { ...visitor, seenMs: nowMs }])
    return true
  }

  forget(pass: string): void {
    const visitor = this.#visitorOf(pass)
    this.#keep(this.#current().filter((one) => one !== visitor))
  }

  /**
   * No pass is valid from here on. Before the port is free: a connection from before may outlive it, and who takes the
   * port then is sent passes by open pages.
   */
  end(): void {
    this.#instance = undefined
    this.#links.clear()
  }

  #visitorOf(pass: string): KeptVisitor | undefined {
    return this.#current().find(({ id }) => {
      const valid = this.#passOf(id)
      return valid !== undefined && isSame(pass, valid)
    })
  }

  #passOf(id: string): string | undefined {
    return this.#instance === undefined ? undefined : mac(this.#instance.secret, id)
  }

  #current(): KeptVisitor[] {
    const nowMs = this.#options.clock.wallMs()
    return this.#visitors.filter(({ seenMs }) => nowMs - seenMs < HUB_VISITOR_IDLE_MS)
  }

  #keep(visitors: readonly KeptVisitor[]): void {
    this.#visitors = visitors.slice(-HUB_VISITORS_MAX)
    keepVisitors(this.#options.path, { hubKey: this.#hubKey, visitors: this.#visitors })
  }

  #random(): string {
    return this.#options.randomBytes(SECRET_BYTES).toString('base64url')
  }
}

const SEEN_STEP_MS = 3_600_000

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const mac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url')

/** By hash: how long it takes says nothing of where the two differ. */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest())

function publicKeyIn(text: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch (error) {
    throw new HeimdallError('HUB_REQUEST_INVALID', 'the key of the browser is not a public key', { cause: error })
  }
  throw new HeimdallError('HUB_REQUEST_INVALID', 'the key of the browser is not a P-256 key')
}
