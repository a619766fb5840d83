// What programs of the same user are let in by: a secret in a file that only they can read.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export class ProgramSecret {
  readonly text = randomBytes(32).toString('base64url')
  readonly #hash = hashOf(`Bearer ${this.text}`)

  /** In the same time whatever differs. */
  isIn(authorization: string | undefined): boolean {
    return timingSafeEqual(hashOf(authorization ?? ''), this.#hash)
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
