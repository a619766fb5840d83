// Setting up one host: plans all of its files before anything is written, and writes all of them or none.
import { HeimdallError } from '../../errors.ts'
import type { Env } from '../../paths.ts'
import { configFiles, type ConfigFile, type Whereabouts } from '../config-files.ts'
import { HOSTS, type HostName } from '../host-table.ts'
import { importConfig, type ImportOptions, planImport, type Planned, restoreConfig } from '../import-config.ts'
import type { ImportedServer } from '../import-text.ts'
import type { SetupOptions } from './host-setup.ts'
import { planSetup, planUndo, type SetupPlan, writeSetupPlan, writeUndo } from './setup-files.ts'
import { readSetup } from './setup-record.ts'

export interface HostPlan {
  readonly host: HostName
  readonly files: readonly SetupPlan[]
  readonly imports: readonly Planned<ImportedServer>[]
}

export interface HostFailure {
  readonly host: HostName
  readonly path: string | null
  readonly message: string
}

/** A host with one unusable file fails as a whole: half a setup would look like all of it. */
export function planHost(
  host: HostName,
  where: Whereabouts,
  options: SetupOptions,
  importing: ImportOptions,
): HostPlan | HostFailure {
  const files = planSetup(host, where, options)
  const broken = files.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) return { host, path: broken.path, message: broken.problem ?? '' }
  try {
    return { host, files, imports: userFiles(host, where).flatMap((file) => planImport(file, importing) ?? []) }
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code === 'INTERNAL') throw error
    return { host, path: null, message: error.message }
  }
}

/** Files of a project are shared with others, and imported only with --shared. */
const userFiles = (host: HostName, where: Whereabouts): ConfigFile[] =>
  configFiles(host, where).filter(({ level }) => level !== 'project')

/** Writes the files of a host; if one fails, those that were written are restored. */
export async function setUpHost(
  host: HostName,
  where: Whereabouts,
  options: SetupOptions,
  importing: ImportOptions,
): Promise<HostFailure | undefined> {
  const { env } = where
  try {
    for (const file of userFiles(host, where)) await importConfig(file, importing)
    // Planned again: the import may have written to the same file.
    for (const plan of planSetup(host, where, options))
      if (plan.edits.length > 0 && !writeSetupPlan(plan, env, options)) throw busyFile(plan.path, host)
    return undefined
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    for (const { realPath } of planSetup(host, where, options)) undoIn(realPath, env)
    for (const file of userFiles(host, where)) await restoreConfig(file, env)
    return { host, path: null, message: `${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}` }
  }
}

function undoIn(realPath: string, env: Env): void {
  const known = readSetup(env, realPath)
  const undo = known === undefined ? undefined : planUndo(known)
  if (undo !== undefined) writeUndo(undo, env)
}

export const busyFile = (path: string, host: HostName): HeimdallError =>
  new HeimdallError('HOST_CONFIG_BUSY', `${path} changed while it was edited`, {
    hint: `close ${HOSTS[host].title} and run the command again`,
  })

/** Hooks that deny what they cannot check would allow it from now on. */
export const isLessStrict = ({ host, files }: HostPlan): boolean =>
  files.some(({ bytes, after }) => {
    const strict = `hook ${host} --strict`
    return bytes?.includes(strict) === true && !after.includes(strict)
  })
