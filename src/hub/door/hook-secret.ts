// The secret that hosts send with their hooks: in a file that only this user can read, and new with each start of the hub.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export class HookSecret {
  readonly text = randomBytes(32).toString('base64url')
  readonly #hash = hashOf(`Bearer ${this.text}`)

  /** In the same time whatever differs. */
  isIn(authorization: string | undefined): boolean {
    return timingSafeEqual(hashOf(authorization ?? ''), this.#hash)
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
