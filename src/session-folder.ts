// The folder of sockets: whoever can write to a socket types into a terminal, so the folder is checked whenever it is used.
import { lstatSync, type Stats } from 'node:fs'
import { HeimdallError } from './errors.ts'
import { printable } from './ids.ts'
import { folderProblem, type OTHERS } from './own-folder.ts'

/** For whoever starts a session there: nobody else may even enter it. */
export function checkSessionDir(dir: string, uid: number): void {
  refuse(dir, uid, lstatSync(dir), 'entered')
}

/**
 * For whoever only looks at sessions or speaks to them: what the files say is believed, down to which processes are
 * ended, so nobody else may have written them. That others can read names there is no danger. An absent folder has none.
 */
export function checkSessionDirIfThere(dir: string, uid: number): void {
  const stats = lstatSync(dir, { throwIfNoEntry: false })
  // In a plain file nobody finds a session: whoever reads it says so.
  if (stats !== undefined && !stats.isFile()) refuse(dir, uid, stats, 'written')
}

function refuse(dir: string, uid: number, stats: Stats, verb: keyof typeof OTHERS): void {
  const problem = folderProblem(stats, uid, verb)
  if (problem === undefined) return
  throw new HeimdallError('SESSION_DIR_UNSAFE', `${printable(dir)} ${problem}`, {
    hint: stats.isDirectory() && stats.uid === uid ? `chmod 700 ${dir}` : 'name another folder with --socket-dir',
  })
}
