// `heimdall import` and `sub import`: the MCP servers of a host behind the shim.
import { EXIT, HeimdallError } from '../../../errors.ts'
import { candidates, type ConfigFile, configFiles, type Whereabouts } from '../../../hosts/config-files.ts'
import { HOSTS, type HostName } from '../../../hosts/host-table.ts'
import { importConfig, type ImportOptions, planImport, type Planned } from '../../../hosts/import-config.ts'
import type { ImportedServer } from '../../../hosts/import-text.ts'
import { escapeControls } from '../../../ids.ts'
import type { Context, Run } from '../../command.ts'
import type { importHosts } from '../../table/hosts.ts'
import { ownCommand } from '../guard/git-hooks.ts'
import { consent } from './consent.ts'
import { EachFile } from './each-file.ts'
import { diffText, fileData, hostsNamed, isChanged, isUnasked, planText } from './plan-text.ts'

type Plan = Planned<ImportedServer>

const WORDS = { wrapped: 'wrap', renewed: 'renew', kept: 'behind', left: 'left' }

export const run: Run<typeof importHosts> = async (context, { args, flags }) => {
  const hosts = hostsNamed(args.host)
  const { env } = context
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const passEnv = flags['pass-env'].flatMap((list) => list.split(',')).filter((name) => name !== '')
  const options: ImportOptions = { env, own: { node, launcher }, passEnv, nowMs: context.clock.wallMs() }
  const where = { env, cwd: context.cwd, platform: process.platform }
  const found = hosts.flatMap((host) => configFiles(host, where))
  const missing = hosts.filter((host) => !found.some((file) => file.host === host)).map((host) => notFound(host, where))
  if (found.length === 0 && missing[0] !== undefined) throw missing[0]
  for (const { message } of missing) context.note(`warning: ${message}`)
  const isShared = flags.shared === true
  const left = found.filter((file) => isUnasked(file, isShared)).flatMap((file) => leftOf(context, file, options))
  const files = found.filter((file) => !isUnasked(file, isShared))
  const each = new EachFile()
  const plans = await each.run(files, (file) => planImport(file, options))
  const summary = [planText(plans, WORDS), ...left.map(leftLine)].filter((line) => line !== '')
  const data = { files: plans.map(fileData), left, dry_run: flags['dry-run'] === true }
  if (flags['dry-run'] === true) {
    const diff = diffText(plans, context.style)
    const { failed, ...exit } = each.outcome(context)
    return {
      data: { ...data, failed },
      text: [...summary, diff === '' ? 'Nothing would change.' : diff].join('\n'),
      ...exit,
    }
  }
  if (plans.some(isChanged) && !(await consent(context, flags.yes === true, summary.join('\n'), question(plans))))
    return {
      data: { ...data, files: [], failed: each.outcome(context).failed },
      text: 'Nothing was changed.',
      exit: EXIT.failure,
    }
  const done = await each.run(files, (file) => importConfig(file, options))
  const { failed, ...exit } = each.outcome(context)
  return {
    ...exit,
    data: { ...data, files: done.map(fileData), failed },
    text: [planText(done, WORDS), ...left.map(leftLine), closing(hosts, done)].filter((line) => line !== '').join('\n'),
  }
}

function notFound(host: HostName, where: Whereabouts): HeimdallError {
  const places = candidates(host, where).map(({ path }) => path)
  return new HeimdallError('HOST_NOT_FOUND', `${HOSTS[host].title} has no configuration file here`, {
    hint: `looked for ${places.map(escapeControls).join(', ')}; ${HOSTS[host].override} names another`,
  })
}

interface LeftFile {
  readonly host: HostName
  readonly path: string
  readonly servers: readonly string[]
}

/** A project's file that was not asked for is looked at all the same: what stays unseen is said. */
function leftOf({ note }: Context, file: ConfigFile, options: ImportOptions): LeftFile[] {
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

const leftLine = ({ path, servers }: LeftFile): string =>
  escapeControls(`${path}: left, with ${servers.join(', ')}; it is the project's, and --shared takes it along`)

function question(plans: readonly Plan[]): string {
  const count = plans.filter(isChanged).length
  return `Change ${count === 1 ? 'this file' : `these ${count} files`}?`
}

function closing(hosts: readonly HostName[], done: readonly Plan[]): string {
  const behind = done.flatMap(({ servers }) => servers).filter(({ outcome }) => outcome !== 'left').length
  if (behind === 0) return 'No server was put behind the shim.'
  const titles = hosts.map((host) => HOSTS[host].title).join(', ')
  const verb = done.some(isChanged) ? `start ${titles} anew` : 'nothing had to be changed'
  const shared = done.some(({ file }) => file.level === 'project')
    ? ' Files of the project now hold paths of this machine: think before you commit them.'
    : ''
  return `${behind} ${behind === 1 ? 'server is' : 'servers are'} behind the shim; ${verb}. heimdall restore ${hosts.join(' ')} undoes it.${shared}`
}
