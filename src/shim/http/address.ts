// The address of a proxy: a port on loopback, and a path that only its user can know, the same each time.
import { createHmac, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError, isSystemError } from '../../errors.ts'
import { type Env, stateDir } from '../../paths.ts'
import { madeOnce } from '../../storage/made-once.ts'

/** Stays, so that a host's configuration can name it; the key is a file that only the user can read. */
export function secretPath(env: Env, serverName: string, url: URL, note: (line: string) => void): string {
  return `/mcp/${createHmac('sha256', keyOf(env, note)).update(`${serverName}\n${url.href}`).digest('hex')}`
}

const KEY = /^[0-9a-f]{64}$/

/** One that others can read or guess is no key. */
function keyOf(env: Env, note: (line: string) => void): string {
  const made = randomBytes(32).toString('hex')
  const path = join(stateDir(env), 'shim-http-key')
  try {
    const key = madeOnce(path, made)
    const why =
      (statSync(path).mode & 0o077) !== 0 ? 'is open to others' : KEY.test(key) ? null : 'holds no key of ours'
    if (why === null) return key
    note(`the address is for this time only: ${path} ${why}; remove it, and the next start makes another`)
    return made
  } catch (error) {
    if (!(error instanceof HeimdallError) && !isSystemError(error)) throw error
    note(`the address is for this time only: ${error.message}`)
    return made
  }
}
