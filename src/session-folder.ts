// The folder of sockets: whoever can write to a socket types into a terminal, so the folder is checked whenever it is used.
import { lstatSync, type Stats } from 'node:fs'
import { HeimdallError } from './errors.ts'
import { printable } from './ids.ts'

/** For whoever starts a session there: nobody else may even enter it. */
export function checkSessionDir(dir: string, uid: number): void {
  refuse(dir, uid, lstatSync(dir), OPEN)
}

/**
 * For whoever only looks at sessions or speaks to them: what the files say is believed, down to which processes are
 * ended, so nobody else may have written them. That others can read names there is no danger. An absent folder has none.
 */
export function checkSessionDirIfThere(dir: string, uid: number): void {
  const stats = lstatSync(dir, { throwIfNoEntry: false })
  // In a plain file nobody finds a session: whoever reads it says so.
  if (stats !== undefined && !stats.isFile()) refuse(dir, uid, stats, WRITABLE)
}

const OPEN = { bits: 0o077, verb: 'entered' }
const WRITABLE = { bits: 0o022, verb: 'written' }

function refuse(dir: string, uid: number, stats: Stats, { bits, verb }: typeof OPEN): void {
  const problem = stats.isSymbolicLink()
    ? 'is a symbolic link'
    : !stats.isDirectory()
      ? 'is not a folder'
      : stats.uid !== uid
        ? `belongs to user ${stats.uid}, not to ${uid}`
        : (stats.mode & bits) !== 0
          ? `can be ${verb} by others (mode ${(stats.mode & 0o777).toString(8)})`
          : undefined
  if (problem === undefined) return
  throw new HeimdallError('SESSION_DIR_UNSAFE', `${printable(dir)} ${problem}`, {
    hint: stats.isDirectory() && stats.uid === uid ? `chmod 700 ${dir}` : 'name another folder with --socket-dir',
  })
}
