// An import and a restore of one file: planned first, so that a person can be shown what would change, then written.
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { HOST_CONFIG_ATTEMPTS_MAX } from '../limits.ts'
import type { Env } from '../paths.ts'
import { removeFileLock, withFileLock } from '../storage/file-lock.ts'
import { ensureFolder } from '../storage/atomic-file.ts'
import type { ConfigFile } from './config-files.ts'
import type { Edit, TextSpan } from './config-text.ts'
import { HOSTS, isServerOf } from './host-table.ts'
import { configIn, type HostConfig, readHostConfig, writeHostConfig } from './host-config.ts'
import { type ImportedServer, importText } from './import-text.ts'
import {
  readRecord,
  recordPath,
  recordsDir,
  removeRecord,
  sha256,
  writeRecord,
  type ImportRecord,
} from './import-record.ts'
import { type RestoredServer, restoreText } from './restore-text.ts'
import type { OwnCommand } from './shim-line.ts'

export interface ImportOptions {
  readonly env: Env
  readonly own: OwnCommand
  readonly passEnv: readonly string[]
  readonly nowMs: number
}

export interface Planned<Server> {
  readonly file: ConfigFile
  readonly before: string
  readonly after: string
  readonly edits: readonly Edit[]
  /** Places in `before` that are shown to nobody. */
  readonly hidden: readonly TextSpan[]
  readonly servers: readonly Server[]
}

/** What an import would do to the file; nothing when the file is gone. */
export function planImport(file: ConfigFile, options: ImportOptions): Planned<ImportedServer> | undefined {
  const read = readHostConfig(file)
  return read === undefined ? undefined : importOf(read, readRecord(options.env, file.realPath), options)
}

/** Writes the record first: a crash between the two leaves a note of something that was not done, never the other way round. */
export function importConfig(file: ConfigFile, options: ImportOptions): Promise<Planned<ImportedServer> | undefined> {
  return changing(file, options.env, (read) => {
    const known = readRecord(options.env, file.realPath)
    const plan = importOf(read, known, options)
    const noted = notesOf(plan, known)
    // The promise of an import is the way back, so it is walked before anything is written.
    const restored = withoutImports(file, plan.after, noted)
    if (restored !== withoutImports(file, plan.before, { ...noted, servers: known?.servers ?? [] }))
      throw notExact(file)
    if (noted.servers.length > 0) writeRecord(options.env, recordOf(plan, noted, restored, options))
    return { plan, isWritten: plan.edits.length === 0 || writeHostConfig(read, plan.after) }
  })
}

/** What a restore would do; nothing when the file is gone. */
export function planRestore(file: ConfigFile, env: Env): Planned<RestoredServer> | undefined {
  const read = readHostConfig(file)
  return read === undefined ? undefined : restoreOf(read, readRecord(env, file.realPath))
}

export async function restoreConfig(file: ConfigFile, env: Env): Promise<Planned<RestoredServer> | undefined> {
  const done = await changing(file, env, (read) => {
    const known = readRecord(env, file.realPath)
    const plan = restoreOf(read, known)
    const isWritten = plan.edits.length === 0 || writeHostConfig(read, plan.after)
    if (isWritten && known !== undefined) forget(env, known, plan)
    return { plan, isWritten }
  })
  // Out again without a trace.
  if (readRecord(env, file.realPath) === undefined) removeFileLock(recordPath(env, file.realPath))
  return done
}

function importOf(read: HostConfig, known: ImportRecord | undefined, options: ImportOptions): Planned<ImportedServer> {
  const { file, config } = read
  const { own, passEnv } = options
  const done = importText(config, known?.servers ?? [], { own, passEnv, envList: HOSTS[file.host].envList })
  return planned(read, done)
}

function restoreOf(read: HostConfig, known: ImportRecord | undefined): Planned<RestoredServer> {
  const { file, config } = read
  const own = (known?.servers ?? []).filter(({ at }) => isServerOf(file.host, at))
  const done = restoreText(config, own, HOSTS[file.host].envList)
  const broken = done.servers.find(({ outcome }) => outcome === 'broken')
  if (broken !== undefined) throw brokenLine(file, broken, config.servers)
  if (known !== undefined && sha256(config.text) === known.wrapped) {
    const rest = withoutImports(file, done.text, known)
    if (sha256(rest) !== known.restored) throw notExact(file)
  }
  return planned(read, done)
}

function planned<Server>(
  { file, config }: HostConfig,
  { text, edits, servers }: { text: string; edits: readonly Edit[]; servers: readonly Server[] },
): Planned<Server> {
  return { file, before: config.text, after: text, edits, hidden: config.hidden(), servers }
}

/** A file may hold servers of several hosts under different keys; what the others imported stays on record. */
function forget(env: Env, known: ImportRecord, { file, after }: Planned<RestoredServer>): void {
  const servers = known.servers.filter(({ at }) => !isServerOf(file.host, at))
  const hosts = known.hosts.filter((host) => host !== file.host)
  if (servers.length === 0) removeRecord(env, file.realPath)
  else writeRecord(env, { ...known, hosts, servers, wrapped: sha256(after) })
}

type Notes = Pick<ImportRecord, 'hosts' | 'servers'>

function notesOf({ file, servers }: Planned<ImportedServer>, known: ImportRecord | undefined): Notes {
  return {
    hosts: [...new Set([...(known?.hosts ?? []), file.host])],
    servers: [
      ...(known?.servers ?? []).filter(({ at }) => !isServerOf(file.host, at)),
      ...servers.flatMap(({ undo }) => undo ?? []),
    ],
  }
}

/** The text with everything taken out again that imports for any host have put in. */
function withoutImports(file: ConfigFile, text: string, { hosts, servers }: Notes): string {
  return hosts.reduce(
    (rest, host) => restoreText(configIn({ ...file, host }, rest), servers, HOSTS[host].envList).text,
    text,
  )
}

function notExact(file: ConfigFile): HeimdallError {
  return new HeimdallError('INTERNAL', `${file.path} could not be restored byte for byte, and was left alone`)
}

function brokenLine(
  file: ConfigFile,
  { at, undo }: RestoredServer,
  servers: readonly { readonly at: readonly string[]; readonly value: Readonly<Record<string, unknown>> }[],
): HeimdallError {
  const now = servers.find((server) => server.at.join('\0') === at.join('\0'))?.value
  return new HeimdallError(
    'IMPORT_CHANGED',
    `${printable(at.at(-1) ?? '')} in ${file.path} starts a shim that no longer says which server is behind it`,
    {
      hint: `before the import it had the command ${printable(undo?.command.value ?? '')} and the args ${printable(undo?.args ?? 'none')}; put these back by hand, or remove the server, then restore the rest`,
      details: {
        now: { command: now?.['command'], args: now?.['args'] },
        before: { command: undo?.command.value, args: undo?.args ?? null },
      },
    },
  )
}

function recordOf(
  { file, after }: Planned<ImportedServer>,
  { hosts, servers }: Notes,
  restored: string,
  { nowMs, own }: ImportOptions,
): ImportRecord {
  const at = new Date(nowMs).toISOString()
  const hashes = { wrapped: sha256(after), restored: sha256(restored) }
  return { v: 1, path: file.realPath, format: file.format, hosts, at, own, ...hashes, servers }
}

interface Attempt<Server> {
  readonly plan: Planned<Server>
  /** False when the host wrote the file between our look and our write. */
  readonly isWritten: boolean
}

/** One of ours at a time; and once more where the host was faster. */
function changing<Server>(
  file: ConfigFile,
  env: Env,
  attempt: (read: HostConfig) => Attempt<Server>,
): Promise<Planned<Server> | undefined> {
  ensureFolder(recordsDir(env))
  return withFileLock(recordPath(env, file.realPath), () => {
    for (let count = 0; count < HOST_CONFIG_ATTEMPTS_MAX; count += 1) {
      const read = readHostConfig(file)
      if (read === undefined) return undefined
      const { plan, isWritten } = attempt(read)
      if (isWritten) return plan
    }
    throw new HeimdallError('HOST_CONFIG_BUSY', `${file.path} changes faster than it can be edited`, {
      hint: `close ${HOSTS[file.host].title} and run the command again; nothing was changed`,
    })
  })
}
