// Programs that a person could run under watch, of those that are on this machine: what the first page offers is to work as it is copied.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isErrno } from '../../errors.ts'
import type { Env } from '../../paths.ts'

/** Agents, the likeliest first; any command is better than one that is not there. */
const PROGRAMS = ['claude', 'codex', 'gemini', 'cursor-agent', 'bash', 'sh'] as const

export function programsIn({ PATH = '' }: Env): string[] {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  return PROGRAMS.filter((name) => folders.some((folder) => canRun(join(folder, name))))
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false
    throw error
  }
}
