// Whether the program of a session can be run, before anything is started for it.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Env } from '../paths.ts'
import type { SessionOptions } from '../wire/session-options.ts'

/** A child that cannot be executed would only be seen as one that exits with 1; so it is looked for first. */
export function checkCommand(options: Pick<SessionOptions, 'cwd' | 'command'>, env: Env): void {
  if (statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new HeimdallError('SESSION_OPTIONS_INVALID', `the working folder ${printable(options.cwd)} is not there`)
  const [program = ''] = options.command
  const isSearched = !program.includes('/')
  const candidates = !isSearched
    ? [resolve(options.cwd, program)]
    : (env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map((folder) => join(resolve(options.cwd, folder), program))
  const problems = candidates.map(problemOf)
  if (problems.includes(undefined)) return
  // A file of the name that cannot be run says more than the folders of PATH that have none.
  const problem = problems.find((one) => one !== NOT_THERE && !(isSearched && one === CLOSED)) ?? NOT_THERE
  throw new HeimdallError('SESSION_COMMAND_NOT_FOUND', `cannot run ${printable(program)}: ${problem}`, {
    hint: hintFor(problem, program),
  })
}

/** Whether a program of this name can be run. */
export function isCommand(program: string, cwd: string, env: Env): boolean {
  try {
    checkCommand({ command: [program], cwd }, env)
    return true
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'SESSION_COMMAND_NOT_FOUND') return false
    throw error
  }
}

/** The session's process could only stumble over it. */
export function checkLogFile(path: string | null): void {
  if (path === null || statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new HeimdallError('SESSION_OPTIONS_INVALID', `the folder of the log ${printable(path)} is not there`, {
    hint: 'make the folder first, or name another file',
  })
}

const NOT_THERE = 'no such program'
const NOT_EXECUTABLE = 'it is not executable'
/** Not a problem of the program: PATH of an ordinary user may name folders of root. */
const CLOSED = 'its folder may not be searched'

/** Nothing for what can be run. */
function problemOf(path: string): string | undefined {
  try {
    const stats = statSync(path)
    if (stats.isDirectory()) return 'it is a folder'
    if (!stats.isFile()) return 'it is no file'
    accessSync(path, constants.X_OK)
    return undefined
  } catch (error) {
    if (isErrno(error, 'EACCES')) return error.syscall === 'stat' ? CLOSED : NOT_EXECUTABLE
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) return NOT_THERE
    throw error
  }
}

function hintFor(problem: string, program: string): string {
  if (problem === NOT_EXECUTABLE)
    return `chmod +x makes it so, or name the program that runs it: sh ${printable(program)}`
  if (problem !== NOT_THERE) return 'name a program'
  return program.includes('/') ? 'check the path' : 'check PATH, or name it with its path'
}
