// heimdall uninstall: what init put into hosts and repositories comes out again.
import { existsSync } from 'node:fs'
import { EXIT, HeimdallError } from '../../../errors.ts'
import type { Whereabouts } from '../../../hosts/config-files.ts'
import { HOST_NAMES, HOSTS } from '../../../hosts/host-table.ts'
import { planRestore, restoreConfig } from '../../../hosts/import-config.ts'
import { importedFiles } from '../../../hosts/imported-files.ts'
import { clearHalves, planUndo, type UndonePlan, unrecorded, writeUndo } from '../../../hosts/init/setup-files.ts'
import { allSetups, guardedRoots, noteGuards, settingUp } from '../../../hosts/init/setup-record.ts'
import { escapeControls } from '../../../ids.ts'
import { findProject } from '../../../paths.ts'
import { refuseAgent } from '../../../person.ts'
import type { Context, Run } from '../../command.ts'
import type { uninstall } from '../../table/hooks.ts'
import { hooksFolder, installedHooks, ownCommand, uninstallHooks } from '../guard/git-hooks.ts'
import { consent } from './consent.ts'
import { fileData, hostsNamed, isChanged, planText } from './plan-text.ts'

export const run: Run<typeof uninstall> = async (context, { args, flags }) => {
  const { env } = context
  const where: Whereabouts = { env, cwd: context.cwd, platform: process.platform }
  const isAll = args.host.length === 0
  const hosts = isAll ? [...HOST_NAMES] : hostsNamed(args.host)
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const options = { own: { node, launcher }, isStrict: false }
  const known = [
    ...allSetups(env).filter(({ host }) => hosts.includes(host)),
    ...hosts.flatMap((host) => unrecorded(host, where, options)),
  ]
  const undone = known.flatMap((record) => planUndo(record) ?? []).filter((plan) => plan.isChanged)
  const imported = hosts.flatMap((host) => importedFiles(host, where, false).files)
  const restores = imported.flatMap((file) => planRestore(file, env) ?? []).filter(isChanged)
  const guards = isAll ? (guardedRoots(env) ?? guardHere(context)).filter((root) => isGuardedAt(root, context)) : []
  const dryRun = flags['dry-run'] === true
  const shown = [
    ...undone.map(lineOf),
    planText(restores, { restored: 'restore' }),
    ...guards.map((root) => escapeControls(`${root}: git guard`)),
  ].filter((line) => line !== '')
  const data = { files: undone.map(dataOf), restored: restores.map(fileData), guards, dry_run: dryRun }
  // Copies that were never put in place are nobody's but ours, and hold what the file does.
  if (!dryRun) for (const host of hosts) clearHalves(host, where, options)
  if (shown.length === 0) return { data, text: 'Nothing of ours was found.' }
  if (dryRun) return { data, text: shown.join('\n') }
  refuseAgent('taking the guards out')
  if (!(await consent(context, flags.yes === true, shown.join('\n'), 'Take these out?')))
    return { data: { ...data, files: [], restored: [], guards: [] }, text: 'Nothing was changed.', exit: EXIT.failure }
  await settingUp(env, async () => {
    // Ours first: what an import finds then is what it has left there.
    for (const record of known) {
      const plan = planUndo(record)
      if (plan !== undefined && !writeUndo(plan, env))
        throw new HeimdallError('HOST_CONFIG_BUSY', `${plan.path} changes faster than it can be edited`, {
          hint: `close ${HOSTS[plan.host].title} and run the command again`,
        })
    }
    for (const file of imported) await restoreConfig(file, env)
    for (const root of guards) uninstallHooks({ cwd: root, env })
    if (isAll) noteGuards(env, [])
  })
  return { data, text: [...shown, 'All of it is out; start the hosts anew.'].join('\n') }
}

/** Without a record, the guard of the repository that this is run in is known by its own lines. */
function guardHere({ cwd, env }: Context): string[] {
  const { gitCommonDir, root } = findProject(cwd, env)
  return gitCommonDir === undefined ? [] : [root]
}

/** A repository that is gone, or has its hooks elsewhere by now, has nothing of ours. */
function isGuardedAt(root: string, { env }: Context): boolean {
  if (!existsSync(root)) return false
  try {
    return installedHooks(hooksFolder({ cwd: root, env })).ours > 0
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('GUARD_')) throw error
    return false
  }
}

const lineOf = ({ path, removes, isExact }: UndonePlan): string =>
  escapeControls(
    `${path}: ${removes ? 'removed, since init made it' : isExact ? 'byte for byte as before' : 'our lines go, what was changed since stays'}`,
  )

const dataOf = ({ host, path, isChanged: changed, isExact: exact, removes: removed }: UndonePlan): object => ({
  host,
  path,
  changed,
  exact,
  removed,
})
