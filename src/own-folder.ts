// Whose a folder or a file of state is: what others could have written is not believed, and not written to.
import { lstatSync, type Stats } from 'node:fs'
import { HeimdallError, isErrno } from './errors.ts'
import { printable } from './ids.ts'

/** Which rights of others are too many: to enter where sessions and secrets are, to write anywhere. */
export const OTHERS = { entered: 0o077, written: 0o022 } as const

/** What is wrong with a folder that should be the user's alone; nothing when all is well. */
export function folderProblem(stats: Stats, uid: number, verb: keyof typeof OTHERS): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (!stats.isDirectory()) return 'is not a folder'
  return ownerProblem(stats, uid) ?? openProblem(stats, verb)
}

const ownerProblem = (stats: Stats, uid: number): string | undefined =>
  stats.uid === uid ? undefined : `belongs to user ${stats.uid}, not to ${uid}`

const openProblem = ({ mode }: Stats, verb: keyof typeof OTHERS): string | undefined =>
  (mode & OTHERS[verb]) === 0 ? undefined : `can be ${verb} by others (mode ${(mode & 0o777).toString(8)})`

/**
 * A folder of state that is read from. One that is absent, or a file in its place, is for whoever opens it to speak of.
 * One lstat: asked each time that a folder is opened, and by no call of a tool.
 */
export function checkOwnFolder(dir: string, verb: keyof typeof OTHERS = 'written'): string {
  const stats = lookedAt(dir)
  if (stats === undefined || (!stats.isDirectory() && !stats.isSymbolicLink())) return dir
  const problem = folderProblem(stats, ownUid(stats), verb)
  if (problem !== undefined) throw unsafe(dir, problem, stats)
  return dir
}

/** A folder that may be another's to look into, such as that of a repository: only what anybody could have put there is refused. */
export function checkClosedFolder(dir: string): void {
  const stats = lookedAt(dir)
  const problem = stats?.isDirectory() === true ? openProblem(stats, 'written') : undefined
  if (stats !== undefined && problem !== undefined) throw unsafe(dir, problem, stats)
}

/** A file of state by what is open or lies there: of its kind and names somebody else speaks. */
export function checkOwnFile(path: string, stats: Stats): void {
  const problem = fileProblem(stats)
  if (problem !== undefined) throw unsafe(path, problem, stats)
}

export const fileProblem = (stats: Stats): string | undefined =>
  ownerProblem(stats, ownUid(stats)) ?? openProblem(stats, 'written')

const ownUid = (stats: Stats): number => process.geteuid?.() ?? stats.uid

function lookedAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) throw error
    return undefined
  }
}

function unsafe(path: string, problem: string, stats: Stats): HeimdallError {
  const own = ownUid(stats)
  const hint =
    stats.uid !== own
      ? `run the command as user ${stats.uid}, or name a folder of your own: HOME or XDG_STATE_HOME leads there`
      : stats.isSymbolicLink()
        ? 'let HOME or XDG_STATE_HOME name the folder itself'
        : `look at what is there, then: chmod ${stats.isDirectory() ? '700' : '600'} ${path}`
  return new HeimdallError('STATE_UNSAFE', `${printable(path)} ${problem}`, { hint })
}
