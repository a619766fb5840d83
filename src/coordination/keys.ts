// Secrets of sessions that were not started by us: one file per agent, readable by its owner alone, made on first use.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../errors.ts'
import type { Project } from '../paths.ts'
import { ensureFolder, readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { haidFileName, parseHaid } from './haid.ts'

const keyPath = (project: Project, haid: string): string => {
  parseHaid(haid)
  return join(project.coordinationDir, 'keys', `${haidFileName(haid)}.key`)
}

export function writeKey(project: Project, haid: string, secret: string): void {
  ensureFolder(join(project.coordinationDir, 'keys'))
  replaceFile(keyPath(project, haid), `${secret}\n`, { mode: 0o600 })
}

/** The secret, or nothing when this machine has none for the agent. A key that others can read is no key. */
export function readKey(project: Project, haid: string): string | undefined {
  const path = keyPath(project, haid)
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
