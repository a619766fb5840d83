// Which files a restore looks at: all that imports for a host are on record for, wherever they lie, and those where the host looks.
import { existsSync } from 'node:fs'
import { candidates, type ConfigFile, configFiles, formatOf, type Whereabouts } from './config-files.ts'
import type { HostName } from './host-table.ts'
import { allRecords, type ImportRecord } from './import-record.ts'

export interface ImportedFiles {
  readonly files: readonly ConfigFile[]
  /** Of files that were removed since: nothing is left to restore. */
  readonly gone: readonly ImportRecord[]
}

/** A project's file without a record was wrapped on another machine: it takes a word of its own (`isShared`). */
export function importedFiles(host: HostName, where: Whereabouts, isShared: boolean): ImportedFiles {
  const isNamed = candidates(host, where).some(({ level }) => level === 'named')
  const records = allRecords(where.env).filter((record) => record.hosts.includes(host))
  // Where a link leads to no file, nothing is behind the shim.
  const found = configFiles(host, where).filter(({ problem }) => problem === undefined)
  const isOnRecord = ({ realPath }: ConfigFile): boolean => records.some(({ path }) => path === realPath)
  const elsewhere = records
    .filter(({ path }) => !isNamed && existsSync(path) && !found.some(({ realPath }) => realPath === path))
    .map(({ path, format = formatOf(path) }): ConfigFile => ({ host, level: 'recorded', path, realPath: path, format }))
  return {
    files: [...found.filter((file) => file.level !== 'project' || isShared || isOnRecord(file)), ...elsewhere],
    gone: records.filter(({ path }) => !existsSync(path)),
  }
}
