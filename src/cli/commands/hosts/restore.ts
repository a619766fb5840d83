// `heimdall restore` and `sub restore`: the MCP servers of a host out of the shim again.
import { EXIT } from '../../../errors.ts'
import type { ConfigFile } from '../../../hosts/config-files.ts'
import { HOSTS, type HostName } from '../../../hosts/host-table.ts'
import { planRestore, type Planned, restoreConfig } from '../../../hosts/import-config.ts'
import { readRecord, removeRecord, type ImportRecord } from '../../../hosts/import-record.ts'
import { importedFiles } from '../../../hosts/imported-files.ts'
import type { RestoredServer } from '../../../hosts/restore-text.ts'
import { escapeControls } from '../../../ids.ts'
import type { Env } from '../../../paths.ts'
import { refuseAgent } from '../../../person.ts'
import type { Run } from '../../command.ts'
import type { restoreHosts } from '../../table/hosts.ts'
import { consent } from './consent.ts'
import { EachFile } from './each-file.ts'
import { diffText, fileData, hostsNamed, isChanged, planText } from './plan-text.ts'

type Plan = Planned<RestoredServer>

const WORDS = { restored: 'restore', changed: 'changed', gone: 'gone', left: 'left', unlisted: 'clean' }

export const run: Run<typeof restoreHosts> = async (context, { args, flags }) => {
  const hosts = hostsNamed(args.host)
  const { env } = context
  const where = { env, cwd: context.cwd, platform: process.platform }
  const looked = hosts.map((host) => importedFiles(host, where, flags.shared === true))
  const files = looked.flatMap((one) => one.files)
  const gone = looked.flatMap((one) => one.gone)
  const each = new EachFile()
  const plans = (await each.run(files, (file) => planRestore(file, env))).filter(isOfInterest)
  const others = files.flatMap((file) => alsoOf(env, file, hosts))
  const lines = [planText(plans.map(explained), WORDS), ...gone.map(goneLine), ...others].filter((line) => line !== '')
  const data = {
    files: plans.map(explained).map(fileData),
    gone: gone.map(({ path }) => path),
    dry_run: flags['dry-run'] === true,
  }
  if (flags['dry-run'] === true) {
    const diff = diffText(plans, context.style)
    const { failed, ...exit } = each.outcome(context)
    return {
      data: { ...data, failed },
      text: [...lines, diff === '' ? 'Nothing would change.' : diff].join('\n'),
      ...exit,
    }
  }
  if (plans.some(isChanged)) refuseAgent('taking servers out of the shim')
  const isAllowed =
    !plans.some(isChanged) ||
    (await consent(context, flags.yes === true, lines.join('\n'), 'Take these out of the shim?'))
  if (!isAllowed)
    return {
      data: { ...data, files: [], failed: each.outcome(context).failed },
      text: 'Nothing was changed.',
      exit: EXIT.failure,
    }
  for (const { path } of gone) removeRecord(env, path)
  const done = await each.run(files, (file) => restoreConfig(file, env))
  const { failed, ...exit } = each.outcome(context)
  const shown = done.filter(isOfInterest).map(explained)
  return {
    ...exit,
    data: { ...data, files: shown.map(fileData), failed },
    text: [planText(shown, WORDS), ...gone.map(goneLine), ...others, closing(hosts, done)]
      .filter((line) => line !== '')
      .join('\n'),
  }
}

const isOfInterest = ({ servers }: Plan): boolean => servers.length > 0

const REASONS: Readonly<Partial<Record<RestoredServer['outcome'], string>>> = {
  changed: 'it has another command by now, which stays',
  gone: 'it is no longer there',
  left: 'its shim was written by hand, and stays',
}

function explained(plan: Plan): Planned<RestoredServer & { readonly reason?: string }> {
  return {
    ...plan,
    servers: plan.servers.map((server) => {
      const reason = [REASONS[server.outcome] ?? [], unlistedText(server)].flat().join('; ')
      return reason === '' ? server : { ...server, reason }
    }),
  }
}

/** Where the record says that they came and go with the shim, there is nothing to tell. */
function unlistedText({ outcome, undo, unlisted }: RestoredServer): string[] {
  if (unlisted.length === 0 || (outcome === 'restored' && undo !== undefined)) return []
  return [`it is no longer handed ${unlisted.join(', ')}`]
}

/** One file may be that of several hosts: there is no taking one of them out. */
function alsoOf(env: Env, file: ConfigFile, hosts: readonly HostName[]): string[] {
  const others = (readRecord(env, file.realPath)?.hosts ?? []).filter((host) => !hosts.includes(host))
  if (others.length === 0) return []
  return [escapeControls(`${file.path} is also that of ${others.map((host) => HOSTS[host].title).join(', ')}`)]
}

const goneLine = ({ path }: ImportRecord): string => escapeControls(`${path} is gone; nothing is left to restore there`)

function closing(hosts: readonly HostName[], done: readonly Plan[]): string {
  const count = done.flatMap(({ servers }) => servers).filter(({ outcome }) => outcome === 'restored').length
  const titles = hosts.map((host) => HOSTS[host].title).join(', ')
  if (count === 0) return `No server of ${titles} is behind the shim by an import.`
  return `${count} ${count === 1 ? 'server is' : 'servers are'} out of the shim; start ${titles} anew.`
}
