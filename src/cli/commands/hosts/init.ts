// heimdall init: hooks, ledger server, shim and git guard for the hosts on this machine, after one question.
import { EXIT, HeimdallError } from '../../../errors.ts'
import { configFiles, type ConfigFile, type Whereabouts } from '../../../hosts/config-files.ts'
import { HOSTS, type HostName } from '../../../hosts/host-table.ts'
import {
  importConfig,
  type ImportOptions,
  planImport,
  type Planned,
  restoreConfig,
} from '../../../hosts/import-config.ts'
import type { ImportedServer } from '../../../hosts/import-text.ts'
import { SETUPS, type SetupOptions } from '../../../hosts/init/host-setup.ts'
import { planSetup, planUndo, type SetupPlan, writeSetupPlan, writeUndo } from '../../../hosts/init/setup-files.ts'
import { guardedRoots, noteGuards, readSetup, settingUp } from '../../../hosts/init/setup-record.ts'
import { escapeControls } from '../../../ids.ts'
import { findProject } from '../../../paths.ts'
import { refuseAgent } from '../../../person.ts'
import { textDiff } from '../../render/text-diff.ts'
import type { Context, Run } from '../../command.ts'
import type { init } from '../../table/hooks.ts'
import { hooksFolder, installHooks, isGuarded, ownCommand } from '../guard/git-hooks.ts'
import { consent } from './consent.ts'
import { foundHosts } from './found-hosts.ts'
import { diffText, fileData, hostsNamed, isChanged, planText } from './plan-text.ts'

const WORDS = { wrapped: 'wrap', renewed: 'renew', kept: 'behind', left: 'left' }

interface HostPlan {
  readonly host: HostName
  readonly files: readonly SetupPlan[]
  readonly imports: readonly Planned<ImportedServer>[]
}

interface Failure {
  readonly host: HostName
  readonly path: string | null
  readonly message: string
}

export const run: Run<typeof init> = async (context, { args, flags }) => {
  const where: Whereabouts = { env: context.env, cwd: context.cwd, platform: process.platform }
  const hosts = args.host.length === 0 ? foundHosts(where) : hostsNamed(args.host)
  if (hosts.length === 0)
    throw new HeimdallError('HOST_NOT_FOUND', 'no host was found on this machine', {
      hint: `name one to set it up all the same: ${Object.keys(HOSTS).join(', ')}`,
    })
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const options: SetupOptions = { own: { node, launcher }, isStrict: flags.strict === true }
  const importing: ImportOptions = { env: context.env, own: options.own, passEnv: [], nowMs: context.clock.wallMs() }
  const failed: Failure[] = []
  const plans = hosts.flatMap((host) => planned(host, where, options, importing, failed))
  const root = flags['no-guard'] === true ? undefined : unguarded(context)
  const changes = plans.some(({ files, imports }) => files.some(isChanged) || imports.some(isChanged))
  const byHand = hosts.flatMap((host) => {
    const text = SETUPS[host].byHand
    return text === undefined ? [] : [{ host, text }]
  })
  const dryRun = flags['dry-run'] === true
  const shown = [...plans.flatMap((plan) => linesOf(context, plan, dryRun)), ...failed.map(failureLine)]
  if (root !== undefined)
    shown.push(`${escapeControls(root)}: git guard (pre-commit, prepare-commit-msg, post-commit, pre-push)`)
  const data = {
    hosts,
    files: plans.flatMap(({ files }) => files.map(setupData)),
    imported: plans.flatMap(({ imports }) => imports.map(fileData)),
    guard: root === undefined ? null : { root, installed: !dryRun },
    by_hand: byHand,
    failed,
    dry_run: dryRun,
  }
  const nothing = !changes && root === undefined
  if (dryRun || nothing)
    return {
      data,
      text: [
        ...shown,
        ...(nothing ? [failed.length > 0 ? 'Nothing was changed.' : 'Nothing has to be changed.'] : []),
      ].join('\n'),
      ...(failed.length > 0 ? { exit: EXIT.failure } : {}),
    }
  if (plans.some(loosens)) refuseAgent('taking --strict from hooks')
  if (!(await consent(context, flags.yes === true, shown.join('\n'), 'Change these files?')))
    return { data: { ...data, files: [], imported: [], guard: null }, text: 'Nothing was changed.', exit: EXIT.failure }
  const done: HostName[] = []
  const known = failed.length
  await settingUp(context.env, async () => {
    for (const plan of plans) done.push(...(await settledHost(context, plan, where, options, importing, failed)))
    if (root === undefined) return
    // The record first: of a guard that did not come to be there is nothing to take out.
    noteGuards(context.env, [...(guardedRoots(context.env) ?? []), root])
    installHooks(context, ownCommand(process.execPath, process.argv[1] ?? ''))
  })
  return {
    data: { ...data, failed },
    text: [
      ...shown,
      ...failed.slice(known).map(failureLine),
      ...byHand.filter(({ host }) => done.includes(host)).map(({ text }) => text),
      closing(done),
    ].join('\n'),
    ...(failed.length > 0 ? { exit: EXIT.failure } : {}),
  }
}

/** Hooks that refuse what they cannot check would let it pass from here on. */
const loosens = ({ host, files }: HostPlan): boolean =>
  files.some(({ bytes, after }) => {
    const strict = `hook ${host} --strict`
    return bytes?.includes(strict) === true && !after.includes(strict)
  })

/** Nothing for a host of which one file cannot be used: half of it would look like the whole. */
function planned(
  host: HostName,
  where: Whereabouts,
  options: SetupOptions,
  importing: ImportOptions,
  failed: Failure[],
): HostPlan[] {
  const files = planSetup(host, where, options)
  const broken = files.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) {
    failed.push({ host, path: broken.path, message: broken.problem ?? '' })
    return []
  }
  try {
    const imports = userFiles(host, where).flatMap((file) => planImport(file, importing) ?? [])
    return [{ host, files, imports }]
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code === 'INTERNAL') throw error
    failed.push({ host, path: null, message: error.message })
    return []
  }
}

/** A project's files go to whoever clones it, and are imported with `heimdall import --shared` alone. */
const userFiles = (host: HostName, where: Whereabouts): ConfigFile[] =>
  configFiles(host, where).filter(({ level }) => level !== 'project')

/** All of a host or nothing: what was written for it is taken out again when the rest cannot be. */
async function settledHost(
  context: Context,
  { host }: HostPlan,
  where: Whereabouts,
  options: SetupOptions,
  importing: ImportOptions,
  failed: Failure[],
): Promise<HostName[]> {
  const { env } = context
  try {
    for (const file of userFiles(host, where)) await importConfig(file, importing)
    // Planned again: the import may have written to the same file.
    for (const plan of planSetup(host, where, options))
      if (isChanged(plan) && !writeSetupPlan(plan, env, options))
        throw new HeimdallError('HOST_CONFIG_BUSY', `${plan.path} changes faster than it can be edited`, {
          hint: `close ${HOSTS[host].title} and run the command again`,
        })
    return [host]
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    for (const { realPath } of planSetup(host, where, options)) {
      const known = readSetup(env, realPath)
      const undo = known === undefined ? undefined : planUndo(known)
      if (undo !== undefined) writeUndo(undo, env)
    }
    for (const file of userFiles(host, where)) await restoreConfig(file, env)
    failed.push({
      host,
      path: null,
      message: `${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}`,
    })
    return []
  }
}

/** The root of the repository that gets the guard; nothing where it is there, or there is no place for it. */
function unguarded(context: Context): string | undefined {
  const { gitCommonDir, root } = findProject(context.cwd, context.env)
  if (gitCommonDir === undefined) return undefined
  try {
    return isGuarded(hooksFolder(context)) ? undefined : root
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('GUARD_')) throw error
    context.note(`warning: no git guard: ${error.message}${error.hint === undefined ? '' : `; ${error.hint}`}`)
    return undefined
  }
}

function linesOf({ style }: Context, { files, imports }: HostPlan, withDiff: boolean): string[] {
  const setups = files.flatMap((plan) => {
    const head = `${escapeControls(plan.path)}: ${plan.what.join(' and ')}${isChanged(plan) ? (plan.bytes === undefined ? ', a new file' : '') : ', there already'}`
    const diff = withDiff && isChanged(plan) ? textDiff(plan.path, plan.before, plan.edits, plan.hidden) : ''
    return diff === '' ? [head] : [head, style.isTty ? diff.split('\n').map(escapeControls).join('\n') : diff]
  })
  const servers = imports.filter((plan) => plan.servers.length > 0)
  const text = planText(servers, WORDS)
  const diff = withDiff ? diffText(servers, style) : ''
  return [...setups, ...[text, diff].filter((one) => one !== '')]
}

const setupData = (plan: SetupPlan): object => ({
  host: plan.host,
  path: plan.path,
  what: plan.what,
  changed: isChanged(plan),
  made: plan.bytes === undefined,
  diff: textDiff(plan.path, plan.before, plan.edits, plan.hidden),
})

const failureLine = ({ host, path, message }: Failure): string =>
  escapeControls(`${HOSTS[host].title} is left alone: ${path === null ? '' : `${path}: `}${message}`)

function closing(hosts: readonly HostName[]): string {
  if (hosts.length === 0) return 'No host was put behind the watch.'
  return `${hosts.map((host) => HOSTS[host].title).join(', ')} ${hosts.length === 1 ? 'is' : 'are'} behind the watch from the next start on. heimdall doctor says whether hooks fire; heimdall uninstall takes everything out again.`
}
