// Secrets of sessions that were not started by us: one file per agent, readable by its owner alone, made on first use.
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { KEYS_EARLIER_MAX } from '../../limits.ts'
import type { Project } from '../../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { hashSecret } from '../change.ts'
import { haidFileName, parseHaid } from './haid.ts'
import { isSecretHash } from './secret-hash.ts'

const keysDir = (project: Project): string => join(project.coordinationDir, 'keys')
const keyPath = (project: Project, haid: string): string => {
  parseHaid(haid)
  return join(keysDir(project), `${haidFileName(haid)}.key`)
}
/** By its hash, which is what the store has of it. */
const offeredPath = (project: Project, secretHash: string): string =>
  join(keysDir(project), 'offered', `${secretHash}.key`)
const earlierDir = (project: Project): string => join(keysDir(project), 'earlier')
const earlierPath = (project: Project, secretHash: string): string => join(earlierDir(project), `${secretHash}.key`)

/**
 * Where the secret of a new session is kept. It is on disk before the change that needs it, under no name, and gets
 * the agent's name once the change is committed: whoever sees the agent finds its key, whoever dies in between has
 * locked nobody out, and a change that is not accepted has replaced no key.
 */
export interface SecretKeeper {
  offer(secret: string): void
  keep(haid: string, secret: string): void
  withdraw(secret: string): void
}

/** Keeps secrets in files that only their owner can read. */
export function keysOf({ project }: { readonly project: Project }): SecretKeeper {
  const withdraw = (secret: string): void => {
    const path = offeredPath(project, hashSecret(secret))
    onDisk(path, () => rmSync(path, { force: true }))
  }
  return {
    offer(secret) {
      ensureFolder(join(keysDir(project), 'offered'))
      replaceFile(offeredPath(project, hashSecret(secret)), `${secret}\n`, { mode: 0o600 })
    },
    keep(haid, secret) {
      writeKey(project, haid, secret)
      withdraw(secret)
    },
    withdraw,
  }
}

/**
 * The key before it stays under its hash. The store here may be another one by then (a fleet joined again, an older
 * copy put back), in which the agent is still known by that one; where it has been replaced it opens nothing.
 */
function writeKey(project: Project, haid: string, secret: string): void {
  ensureFolder(keysDir(project))
  const path = keyPath(project, haid)
  const before = readFileIfThere(path)?.toString('utf8').trim()
  if (before !== undefined && before !== '' && before !== secret) keepEarlier(project, before)
  replaceFile(path, `${secret}\n`, { mode: 0o600 })
}

function keepEarlier(project: Project, secret: string): void {
  const folder = earlierDir(project)
  ensureFolder(folder)
  replaceFile(earlierPath(project, hashSecret(secret)), `${secret}\n`, { mode: 0o600 })
  const names = onDisk(folder, () => readdirSync(folder))
  if (names.length <= KEYS_EARLIER_MAX) return
  const ages = names.map((name) => ({ path: join(folder, name), ms: changedMs(join(folder, name)) }))
  const [oldest] = ages.toSorted((one, other) => one.ms - other.ms)
  if (oldest !== undefined) onDisk(oldest.path, () => rmSync(oldest.path, { force: true }))
}

const changedMs = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** The secret, or nothing when this machine has none for the agent: by its name, as it was offered, or as one that another took the place of. */
export function readKey(project: Project, haid: string, secretHash: string | null = null): string | undefined {
  const named = readPrivately(keyPath(project, haid))
  // A text that is no hash would be a path to wherever it leads.
  if (secretHash === null || !isSecretHash(secretHash)) return named
  if (named !== undefined && hashSecret(named) === secretHash) return named
  return readPrivately(offeredPath(project, secretHash)) ?? readPrivately(earlierPath(project, secretHash)) ?? named
}

/** A key that others can read is no key. */
function readPrivately(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  // Another user's file says who that user is, not who we are.
  const own = process.geteuid?.() ?? stats.uid
  if (stats.uid !== own)
    throw new HeimdallError('IDENTITY_UNPROVEN', `${path} belongs to user ${stats.uid}, not to user ${own}`, {
      hint: 'act under a name of your own',
    })
  if (!stats.isFile() || (stats.mode & 0o077) !== 0)
    throw new HeimdallError('IDENTITY_UNPROVEN', `${path} is not a file that only its owner can read`, {
      hint: `chmod 600 ${path}`,
    })
  return readFileIfThere(path)?.toString('utf8').trim()
}
