// Who was let in: links that are good for one visit, and browsers that came by one. Only hashes are kept, so that nothing on disk opens the door.
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { HUB_LINK_MS, HUB_LINKS_MAX, HUB_VISITOR_IDLE_MS, HUB_VISITORS_MAX } from '../../limits.ts'
import { readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'

interface Visitor {
  readonly hash: string
  readonly passHash: string
  readonly seenMs: number
}

/**
 * What a browser that was let in shows from then on, both of it. The token is a cookie, which scripts do not see; but
 * browsers give cookies to every port of a host, and on 127.0.0.1 any port may be another user's or an agent's. The
 * pass lies in the page's own storage, which is for this port alone.
 */
export interface VisitorKeys {
  readonly token: string
  readonly pass: string
}

export interface VisitorsOptions {
  /** Where they outlive a restart of the hub. */
  readonly path: string
  readonly clock: Clock
  readonly randomBytes: (count: number) => Buffer
}

/** As many bytes as SHA-256 has: nobody guesses them. */
const TOKEN_BYTES = 32

export class Visitors {
  readonly #options: VisitorsOptions
  /** Until when each is good, by its hash. */
  readonly #links = new Map<string, number>()
  #visitors: Visitor[]

  constructor(options: VisitorsOptions) {
    this.#options = options
    this.#visitors = readVisitors(options.path)
  }

  /** The key of a new one-time link. */
  link(): string {
    const { clock } = this.#options
    for (const [hash, untilMs] of this.#links) if (untilMs < clock.monoMs()) this.#links.delete(hash)
    const [oldest] = this.#links.keys()
    if (oldest !== undefined && this.#links.size >= HUB_LINKS_MAX) this.#links.delete(oldest)
    const key = this.#secret()
    this.#links.set(sha256(key), clock.monoMs() + HUB_LINK_MS)
    return key
  }

  /** For a browser that brings the key of a link; nothing for one that is spent, too old or never was. */
  admit(key: string): VisitorKeys | undefined {
    const hash = sha256(key)
    const untilMs = this.#links.get(hash)
    this.#links.delete(hash)
    if (untilMs === undefined || untilMs < this.#options.clock.monoMs()) return undefined
    const token = this.#secret()
    const pass = this.#secret()
    const seenMs = this.#options.clock.wallMs()
    this.#keep([...this.#current(), { hash: sha256(token), passHash: sha256(pass), seenMs }])
    return { token, pass }
  }

  /** By hash: whoever measures how long a look takes learns nothing of a token. */
  knows({ token, pass }: VisitorKeys): boolean {
    const hash = sha256(token)
    const passHash = sha256(pass)
    const visitor = this.#current().find((one) => one.hash === hash && one.passHash === passHash)
    if (visitor === undefined) return false
    // Once an hour is often enough to know who has not been here for a week.
    if (this.#options.clock.wallMs() - visitor.seenMs > SEEN_STEP_MS)
      this.#keep([
        ...this.#current().filter((one) => one !== visitor),
        { ...visitor, seenMs: this.#options.clock.wallMs() },
      ])
    return true
  }

  forget(token: string): void {
    const hash = sha256(token)
    this.#keep(this.#current().filter((one) => one.hash !== hash))
  }

  #current(): Visitor[] {
    const nowMs = this.#options.clock.wallMs()
    return this.#visitors.filter(({ seenMs }) => nowMs - seenMs < HUB_VISITOR_IDLE_MS)
  }

  #keep(visitors: readonly Visitor[]): void {
    this.#visitors = visitors.slice(-HUB_VISITORS_MAX)
    replaceFile(this.#options.path, `${JSON.stringify({ v: 1, visitors: this.#visitors })}\n`)
  }

  #secret(): string {
    return this.#options.randomBytes(TOKEN_BYTES).toString('base64url')
  }
}

const SEEN_STEP_MS = 3_600_000

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Nobody, where the file is not there or is none of ours: then everybody comes by a new link. */
function readVisitors(path: string): Visitor[] {
  const text = readFileIfThere(path)?.toString('utf8')
  if (text === undefined) return []
  try {
    const { visitors } = JSON.parse(text) as { readonly visitors?: unknown }
    return Array.isArray(visitors) ? visitors.filter(isVisitor) : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function isVisitor(value: unknown): value is Visitor {
  if (typeof value !== 'object' || value === null) return false
  const { hash, passHash, seenMs } = value as Partial<Visitor>
  return typeof hash === 'string' && typeof passHash === 'string' && typeof seenMs === 'number'
}
