// heimdall mcp import and restore: edits in the configuration files of hosts, planned, shown and agreed to before anything is written.
import { EXIT, HeimdallError } from '../../errors.ts'
import { candidates, type ConfigFile, configFiles, type Whereabouts } from '../../hosts/config-files.ts'
import { HOST_NAMES, HOSTS, type HostName } from '../../hosts/host-table.ts'
import {
  importConfig,
  type ImportOptions,
  planImport,
  type Planned,
  planRestore,
  restoreConfig,
} from '../../hosts/import-config.ts'
import { type ImportRecord, readRecord, removeRecord } from '../../hosts/import-record.ts'
import type { ImportedServer } from '../../hosts/import-text.ts'
import { importedFiles } from '../../hosts/imported-files.ts'
import type { RestoredServer } from '../../hosts/restore-text.ts'
import { escapeControls } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import { refuseAgent } from '../../person.ts'
import type { Answer, Context, Run } from '../command.ts'
import { ownCommand } from '../../spine/guard/git-hooks.ts'
import { consent } from '../consent.ts'
import { EachFile } from '../each-file.ts'
import { diffText, fileData, hostsNamed, isChanged, isUnasked, planText } from '../render/plan-text.ts'
import type { importSpec, restoreSpec } from './mcp.ts'
import { usageError } from '../usage-error.ts'

type Server = Parameters<typeof planText>[0][number]['servers'][number]

/** What an import and a restore differ in. */
interface Editing<S extends Server> {
  readonly files: readonly ConfigFile[]
  readonly words: Readonly<Record<string, string>>
  plan(file: ConfigFile): Planned<S> | undefined
  /** Writes the file. */
  apply(file: ConfigFile): Promise<Planned<S> | undefined>
  /** What is shown of the plans, and put into the answer. */
  shown(plans: readonly Planned<S>[]): readonly Planned<S>[]
  /** Lines about files that are not changed. */
  readonly also: readonly string[]
  readonly data: object
  question(changed: number): string
  beforeWriting?(): void
  /** The last line. */
  done(plans: readonly Planned<S>[]): string
}

async function edit<S extends Server>(
  context: Context,
  flags: { readonly 'dry-run': boolean | undefined; readonly yes: boolean | undefined },
  editing: Editing<S>,
): Promise<Answer> {
  const each = new EachFile()
  const isDry = flags['dry-run'] === true
  const planned = await each.run(editing.files, (file) => editing.plan(file))
  const plans = editing.shown(planned)
  const textOf = (some: readonly Planned<S>[]): string[] =>
    [planText(some, editing.words), ...editing.also].filter((line) => line !== '')
  const answer = (files: readonly Planned<S>[], lines: readonly string[], exit?: number): Answer => {
    const { failed, ...failure } = each.outcome(context)
    return {
      data: { ...editing.data, files: files.map(fileData), dry_run: isDry, failed },
      text: lines.join('\n'),
      ...failure,
      ...(exit === undefined ? {} : { exit }),
    }
  }
  if (isDry) {
    const diff = diffText(plans, context.style)
    return answer(plans, [...textOf(plans), diff === '' ? 'Nothing would change.' : diff])
  }
  const changed = planned.filter(isChanged).length
  if (changed > 0) {
    editing.beforeWriting?.()
    if (!(await consent(context, flags.yes === true, textOf(plans).join('\n'), editing.question(changed))))
      return answer([], ['Nothing was changed.'], EXIT.failure)
  }
  const done = await each.run(editing.files, (file) => editing.apply(file))
  const shown = editing.shown(done)
  return answer(shown, [...textOf(shown), editing.done(done)])
}

export const importHosts: Run<typeof importSpec> = async (context, { args, flags }) => {
  const { env } = context
  const where = { env, cwd: context.cwd, platform: process.platform }
  const hosts = hostsToImport(context, args.host, where)
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const passEnv = flags['pass-env'].flatMap((list) => list.split(',')).filter((name) => name !== '')
  const options: ImportOptions = { env, own: { node, launcher }, passEnv, nowMs: context.clock.wallMs() }
  const found = hosts.flatMap((host) => configFiles(host, where))
  const missing = hosts.filter((host) => !found.some((file) => file.host === host)).map((host) => notFound(host, where))
  if (found.length === 0 && missing[0] !== undefined) throw missing[0]
  for (const { message } of missing) context.note(`warning: ${message}`)
  const isShared = flags.shared === true
  const left = found.filter((file) => isUnasked(file, isShared)).flatMap((file) => leftOf(context, file, options))
  return await edit<ImportedServer>(context, flags, {
    files: found.filter((file) => !isUnasked(file, isShared)),
    words: { wrapped: 'wrap', renewed: 'renew', kept: 'behind', left: 'left' },
    plan: (file) => planImport(file, options),
    apply: (file) => importConfig(file, options),
    shown: (plans) => plans,
    also: left.map(({ path, servers }) =>
      escapeControls(`${path}: left, with ${servers.join(', ')}; it belongs to the project, --shared includes it`),
    ),
    data: { left },
    question: (count) => `Change ${count === 1 ? 'this file' : `these ${count} files`}?`,
    done: (plans) => imported(hosts, plans),
  })
}

/** Those named; without a name all that have a configuration file here, and which those are. */
function hostsToImport(context: Context, named: readonly string[], where: Whereabouts): HostName[] {
  if (named.length > 0) return hostsNamed(named)
  if (context.isSeedName) throw usageError('HOST is missing', `${context.calledAs} --help`)
  const hosts = HOST_NAMES.filter((host) => configFiles(host, where).length > 0)
  if (hosts.length === 0)
    throw new HeimdallError('HOST_NOT_FOUND', 'no host has a configuration file here', {
      hint: `heimdall mcp import HOST shows where it looks; known hosts: ${HOST_NAMES.join(', ')}`,
    })
  context.note(`hosts found here: ${titlesOf(hosts)}`)
  return hosts
}

const titlesOf = (hosts: readonly HostName[]): string => hosts.map((host) => HOSTS[host].title).join(', ')

function notFound(host: HostName, where: Whereabouts): HeimdallError {
  const places = candidates(host, where).map(({ path }) => path)
  return new HeimdallError('HOST_NOT_FOUND', `${HOSTS[host].title} has no configuration file here`, {
    hint: `looked for ${places.map(escapeControls).join(', ')}; ${HOSTS[host].override} names another`,
  })
}

/** Project files are read even without --shared, to report the servers that stay outside the shim. */
function leftOf(
  { note }: Context,
  file: ConfigFile,
  options: ImportOptions,
): { readonly host: HostName; readonly path: string; readonly servers: readonly string[] }[] {
  try {
    const servers = planImport(file, options)?.servers.filter(({ outcome }) => outcome === 'wrapped') ?? []
    const names = servers.map(({ at }) => at.at(-1) ?? '')
    return names.length === 0 ? [] : [{ host: file.host, path: file.path, servers: names }]
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code === 'INTERNAL') throw error
    note(`warning: ${error.message}`)
    return []
  }
}

function imported(hosts: readonly HostName[], done: readonly Planned<ImportedServer>[]): string {
  const behind = done.flatMap(({ servers }) => servers).filter(({ outcome }) => outcome !== 'left').length
  if (behind === 0) return 'No server was put behind the shim.'
  const next = done.some(isChanged) ? `restart ${titlesOf(hosts)}` : 'nothing had to be changed'
  const shared = done.some(({ file }) => file.level === 'project')
    ? ' Project files now contain paths of this machine: check them before you commit.'
    : ''
  return `${behind} ${behind === 1 ? 'server is' : 'servers are'} behind the shim; ${next}. heimdall mcp restore ${hosts.join(' ')} undoes it.${shared}`
}

export const restoreHosts: Run<typeof restoreSpec> = async (context, { args, flags }) => {
  const { env } = context
  if (args.host.length === 0 && context.isSeedName) throw usageError('HOST is missing', `${context.calledAs} --help`)
  const where = { env, cwd: context.cwd, platform: process.platform }
  const named = args.host.length === 0 ? HOST_NAMES : hostsNamed(args.host)
  const found = named.map((host) => ({ host, ...importedFiles(host, where, flags.shared === true) }))
  const files = found.flatMap((one) => one.files)
  const gone = [...new Map(found.flatMap((one) => one.gone).map((record) => [record.path, record])).values()]
  const hosts =
    args.host.length > 0 || files.length === 0
      ? named
      : named.filter((host) => files.some((file) => file.host === host))
  return await edit<RestoredServer & { readonly reason?: string }>(context, flags, {
    files,
    words: { restored: 'restore', changed: 'changed', gone: 'gone', left: 'left', unlisted: 'clean' },
    plan: (file) => explained(planRestore(file, env)),
    apply: async (file) => explained(await restoreConfig(file, env)),
    shown: (plans) => plans.filter(({ servers }) => servers.length > 0),
    also: [...gone.map(goneLine), ...files.flatMap((file) => alsoOf(env, file, hosts))],
    data: { gone: gone.map(({ path }) => path) },
    question: () => 'Take these out of the shim?',
    beforeWriting: () => refuseAgent('taking servers out of the shim'),
    done: (plans) => {
      for (const { path } of gone) removeRecord(env, path)
      return restored(hosts, plans)
    },
  })
}

const REASONS: Readonly<Partial<Record<RestoredServer['outcome'], string>>> = {
  changed: 'its command was changed since, and stays',
  gone: 'it is no longer there',
  left: 'its shim was written by hand, and stays',
}

function explained(
  plan: Planned<RestoredServer> | undefined,
): Planned<RestoredServer & { readonly reason?: string }> | undefined {
  if (plan === undefined) return undefined
  return {
    ...plan,
    servers: plan.servers.map((server) => {
      const reason = [REASONS[server.outcome] ?? [], unlistedText(server)].flat().join('; ')
      return reason === '' ? server : { ...server, reason }
    }),
  }
}

/** Variables that the import added and the record lists go without a word. */
function unlistedText({ outcome, undo, unlisted }: RestoredServer): string[] {
  if (unlisted.length === 0 || (outcome === 'restored' && undo !== undefined)) return []
  return [`it no longer receives ${unlisted.join(', ')}`]
}

function alsoOf(env: Env, file: ConfigFile, hosts: readonly HostName[]): string[] {
  const others = (readRecord(env, file.realPath)?.hosts ?? []).filter((host) => !hosts.includes(host))
  return others.length === 0 ? [] : [escapeControls(`${file.path} is also used by ${titlesOf(others)}`)]
}

const goneLine = ({ path }: ImportRecord): string => escapeControls(`${path} is gone; nothing to restore there`)

function restored(hosts: readonly HostName[], done: readonly Planned<RestoredServer>[]): string {
  const count = done.flatMap(({ servers }) => servers).filter(({ outcome }) => outcome === 'restored').length
  if (count === 0) return `No server of ${titlesOf(hosts)} is behind the shim by an import.`
  return `${count} ${count === 1 ? 'server is' : 'servers are'} out of the shim; restart ${titlesOf(hosts)}.`
}
