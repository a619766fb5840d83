// Which hosts are installed on this machine, judged by their config files, their folders and their programs in PATH.
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { configFiles, pathsOf, type Whereabouts } from '../config-files.ts'
import { HOST_NAMES, type HostName } from '../host-table.ts'
import { SETUPS } from './host-setup.ts'
import { isSystemError } from '../../errors.ts'

export const foundHosts = (where: Whereabouts): HostName[] => HOST_NAMES.filter((host) => isFound(host, where))

function isFound(host: HostName, where: Whereabouts): boolean {
  const { hooks, programs } = SETUPS[host]
  return (
    configFiles(host, where).some(({ level }) => level !== 'project') ||
    (hooks !== undefined && pathsOf(hooks, where).some((path) => existsSync(dirname(path)))) ||
    programs.some((program) => isInPath(program, where.env['PATH'] ?? ''))
  )
}

export function isInPath(program: string, path: string): boolean {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .some((folder) => {
      try {
        accessSync(join(folder, program), constants.X_OK)
        return true
      } catch (error) {
        if (isSystemError(error)) return false
        throw error
      }
    })
}
