// What the child is started with: the program found beforehand, and the environment it sees.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { HeimdallError, isErrno } from '../errors.ts'
import { printable } from '../ids.ts'
import type { Env } from '../paths.ts'
import type { SessionOptions } from './options.ts'
import { KEY_VARIABLE, SUPERVISOR_VARIABLE } from './handover.ts'

/** Everything that the supervisor was given, what the user added, and then the session's id and its key, which nobody overrides. */
export function childEnvironment(options: SessionOptions, inherited: Env, key: string): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) if (value !== undefined) env[name] = value
  // The size of somebody else's terminal, and a mark that is the supervisor's alone.
  for (const name of ['COLUMNS', 'LINES', SUPERVISOR_VARIABLE]) delete env[name]
  env['TERM'] ??= 'xterm-256color'
  env['PWD'] = options.cwd
  for (const { name, value } of options.env) env[name] = value
  env[options.sessionEnvVar] = options.id
  env[KEY_VARIABLE] = key
  return env
}

/** A child that cannot be executed would only be seen as one that exits with 1; so it is looked for first. */
export function checkCommand(options: SessionOptions, env: Env): void {
  if (statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new HeimdallError('SESSION_OPTIONS_INVALID', `the working folder ${printable(options.cwd)} is not there`)
  const [program = ''] = options.command
  const candidates = program.includes('/')
    ? [resolve(options.cwd, program)]
    : (env['PATH'] ?? '/usr/bin:/bin').split(delimiter).map((folder) => join(resolve(options.cwd, folder), program))
  if (candidates.some(isExecutable)) return
  throw new HeimdallError('SESSION_COMMAND_NOT_FOUND', `cannot run ${printable(program)}: no such program`, {
    hint: program.includes('/') ? 'check the path and that it is executable' : 'check PATH, or name it with its path',
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) return false
    throw error
  }
}
