// Commands that set up hosts: `heimdall init`, `uninstall`, `hosts`, and `hook`, which hosts call.
import { existsSync } from 'node:fs'
import { EXIT, HeimdallError } from '../../errors.ts'
import type { Whereabouts } from '../../hosts/config-files.ts'
import { HOOK_HOSTS } from '../../hosts/hooks/hook-table.ts'
import { HOST_NAMES, HOSTS, type HostName } from '../../hosts/host-table.ts'
import { type ImportOptions, planRestore, restoreConfig } from '../../hosts/import-config.ts'
import { importedFiles } from '../../hosts/imported-files.ts'
import { foundHosts } from '../../hosts/init/found-hosts.ts'
import {
  busyFile,
  type HostFailure,
  type HostPlan,
  isLessStrict,
  planHost,
  setUpHost,
} from '../../hosts/init/host-plan.ts'
import { SETUPS, type SetupOptions } from '../../hosts/init/host-setup.ts'
import {
  clearHalves,
  planUndo,
  type SetupPlan,
  type UndonePlan,
  unrecorded,
  writeUndo,
} from '../../hosts/init/setup-files.ts'
import { allSetups, guardedRoots, noteGuards, settingUp } from '../../hosts/init/setup-record.ts'
import { escapeControls, printable } from '../../ids.ts'
import { findProject } from '../../paths.ts'
import { refuseAgent } from '../../person.ts'
import {
  hooksFolder,
  installedHooks,
  installHooks,
  isGuarded,
  ownCommand,
  uninstallHooks,
} from '../../spine/guard/git-hooks.ts'
import { type ArgSpec, type Command, command, type Context, type FlagSpec } from '../command.ts'
import { hookHost, runHook } from '../quick-hook.ts'
import { renderTable } from '../render/style.ts'
import { textDiff } from '../../hosts/text-diff.ts'
import { consent } from '../consent.ts'
import { diffText, fileData, hostsNamed, isChanged, planText } from '../render/plan-text.ts'
import { usageError } from '../usage-error.ts'

const hostArg = {
  name: 'host',
  help: `${HOST_NAMES.join(', ')}; default all that are installed`,
  variadic: true,
  optional: true,
} as const satisfies ArgSpec
const changing = {
  'dry-run': { help: 'show every change to every file, and write nothing' },
  yes: { short: 'y', help: 'do not ask' },
} as const satisfies Record<string, FlagSpec>

const WORDS = { wrapped: 'wrap', renewed: 'renew', kept: 'behind', left: 'left' }

const whereOf = ({ env, cwd }: Context): Whereabouts => ({ env, cwd, platform: process.platform })

function setupOptions(isStrict: boolean): SetupOptions {
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  return { own: { node, launcher }, isStrict }
}

/** The root of the repository to install the git guard in; undefined if it has one, or cannot have one. */
function unguardedRoot(context: Context): string | undefined {
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

function planLines({ style }: Context, { files, imports }: HostPlan, withDiff: boolean): string[] {
  const setups = files.flatMap((plan) => {
    const state = isChanged(plan) ? (plan.bytes === undefined ? ' (new file)' : '') : ' (no change)'
    const head = `${escapeControls(plan.path)}: ${plan.what.join(' and ')}${state}`
    const diff = withDiff ? setupDiff(plan) : ''
    return diff === '' ? [head] : [head, style.isTty ? diff.split('\n').map(escapeControls).join('\n') : diff]
  })
  const servers = imports.filter((plan) => plan.servers.length > 0)
  const texts = [planText(servers, WORDS), withDiff ? diffText(servers, style) : '']
  return [...setups, ...texts.filter((one) => one !== '')]
}

const setupDiff = (plan: SetupPlan): string => textDiff(plan.path, plan.before, plan.edits, plan.hidden)

const failureLine = ({ host, path, message }: HostFailure): string =>
  escapeControls(`${HOSTS[host].title} is not changed: ${path === null ? '' : `${path}: `}${message}`)

function initClosing(hosts: readonly HostName[]): string {
  if (hosts.length === 0) return 'No host was set up.'
  const titles = hosts.map((host) => HOSTS[host].title).join(', ')
  return [
    `Set up ${titles}. Restart ${hosts.length === 1 ? 'it' : 'them'} for this to take effect.`,
    'heimdall doctor shows whether hooks are called; heimdall uninstall removes everything.',
  ].join('\n')
}

/** Repositories with a git guard that init installed; without a record, the current one if it has a guard. */
function guardsToRemove({ cwd, env }: Context): string[] {
  const { gitCommonDir, root } = findProject(cwd, env)
  const roots = guardedRoots(env) ?? (gitCommonDir === undefined ? [] : [root])
  return roots.filter((one) => {
    if (!existsSync(one)) return false
    try {
      return installedHooks(hooksFolder({ cwd: one, env })).ours > 0
    } catch (error) {
      if (!(error instanceof HeimdallError) || !error.code.startsWith('GUARD_')) throw error
      return false
    }
  })
}

const undoLine = ({ path, removes, isExact }: UndonePlan): string =>
  escapeControls(
    `${path}: ${removes ? 'removed, init created it' : isExact ? 'restored byte for byte' : 'our lines are removed, later changes stay'}`,
  )

export const commands: readonly Command[] = [
  command({
    names: ['heimdall init'],
    changes: true,
    summary: 'Set up the hosts on this machine, so that agents you start are watched',
    about:
      'Shows every file and line to change, and asks once. Adds hooks and the ledger server to your own config files, ' +
      'puts MCP servers behind the shim, and installs the git guard in this repository. Other lines are not changed. ' +
      'A host with an unreadable file is skipped as a whole. Running it again updates its own lines. heimdall ' +
      'uninstall removes exactly what was added.',
    args: [hostArg],
    flags: {
      strict: { help: 'hooks deny calls that they cannot check; by default they allow them' },
      'no-guard': { help: 'do not install git hooks in this repository' },
      ...changing,
    },
    examples: {
      'heimdall init': 'sets up all installed hosts, after one question',
      'heimdall init --dry-run': 'shows what would change',
      'heimdall init claude codex --yes': 'sets up these two without asking',
    },
    output:
      'hosts, files (list of {host, path, what, changed, made, diff}), imported (list of {host, path, level, changed, diff, servers}), guard ({root, installed} or null), by_hand (list of {host, text}: steps for you), failed (list of {host, path, message}), dry_run',
    run: async (context, { args, flags }) => {
      const where = whereOf(context)
      const hosts = args.host.length === 0 ? foundHosts(where) : hostsNamed(args.host)
      if (hosts.length === 0)
        throw new HeimdallError('HOST_NOT_FOUND', 'no host is installed on this machine', {
          hint: `name one to set it up anyway: ${HOST_NAMES.join(', ')}`,
        })
      const options = setupOptions(flags.strict === true)
      const importing: ImportOptions = {
        env: context.env,
        own: options.own,
        passEnv: [],
        nowMs: context.clock.wallMs(),
      }
      const planned = hosts.map((host) => planHost(host, where, options, importing))
      const plans = planned.filter((one): one is HostPlan => 'files' in one)
      const failed = planned.filter((one): one is HostFailure => 'message' in one)
      const root = flags['no-guard'] === true ? undefined : unguardedRoot(context)
      const byHand = hosts.flatMap((host) => {
        const text = SETUPS[host].byHand
        return text === undefined ? [] : [{ host, text }]
      })
      const dryRun = flags['dry-run'] === true
      const shown = [...plans.flatMap((plan) => planLines(context, plan, dryRun)), ...failed.map(failureLine)]
      if (root !== undefined)
        shown.push(`${escapeControls(root)}: git guard (pre-commit, prepare-commit-msg, post-commit, pre-push)`)
      const data = {
        hosts,
        files: plans.flatMap(({ files }) =>
          files.map((plan) => ({
            host: plan.host,
            path: plan.path,
            what: plan.what,
            changed: isChanged(plan),
            made: plan.bytes === undefined,
            diff: setupDiff(plan),
          })),
        ),
        imported: plans.flatMap(({ imports }) => imports.map(fileData)),
        guard: root === undefined ? null : { root, installed: !dryRun },
        by_hand: byHand,
        failed,
        dry_run: dryRun,
      }
      const changes = plans.some(({ files, imports }) => files.some(isChanged) || imports.some(isChanged))
      const nothing = !changes && root === undefined
      const exitOf = (failures: readonly HostFailure[]): { exit?: number } =>
        failures.length > 0 ? { exit: EXIT.failure } : {}
      if (dryRun || nothing) {
        if (nothing) shown.push(failed.length > 0 ? 'Nothing was changed.' : 'Nothing to change.')
        return { data, text: shown.join('\n'), ...exitOf(failed) }
      }
      if (plans.some(isLessStrict)) refuseAgent('removing --strict from hooks')
      if (!(await consent(context, flags.yes === true, shown.join('\n'), 'Change these files?')))
        return {
          data: { ...data, files: [], imported: [], guard: null },
          text: 'Nothing was changed.',
          exit: EXIT.failure,
        }
      const late: HostFailure[] = []
      await settingUp(context.env, async () => {
        for (const { host } of plans) {
          const failure = await setUpHost(host, where, options, importing)
          if (failure !== undefined) late.push(failure)
        }
        if (root === undefined) return
        // Recorded first, so that a guard that was installed is always known to uninstall.
        noteGuards(context.env, [...(guardedRoots(context.env) ?? []), root])
        installHooks(context, ownCommand(process.execPath, process.argv[1] ?? ''))
      })
      const done = plans.map(({ host }) => host).filter((host) => !late.some((failure) => failure.host === host))
      return {
        data: { ...data, failed: [...failed, ...late] },
        text: [
          ...shown,
          ...late.map(failureLine),
          ...byHand.filter(({ host }) => done.includes(host)).map(({ text }) => text),
          initClosing(done),
        ].join('\n'),
        ...exitOf([...failed, ...late]),
      }
    },
  }),
  command({
    names: ['heimdall uninstall'],
    changes: true,
    summary: 'Remove from the hosts exactly what heimdall init added',
    about:
      'Files that have not changed since are restored byte for byte, and files that init created are removed. From ' +
      'other files only our lines are removed. MCP servers no longer run behind the shim, and the git guard is removed ' +
      'from repositories that init added it to. Records of runs, claims and settings stay. Not for agents.',
    args: [hostArg],
    flags: changing,
    examples: {
      'heimdall uninstall --dry-run': 'shows what would change',
      'heimdall uninstall --yes': 'removes everything without asking',
    },
    output:
      'files (list of {host, path, changed, exact, removed}), restored (list of {host, path, level, changed, diff, servers}), guards (roots of repositories), dry_run',
    run: async (context, { args, flags }) => {
      const { env } = context
      const where = whereOf(context)
      const isAll = args.host.length === 0
      const hosts = isAll ? [...HOST_NAMES] : hostsNamed(args.host)
      const options = setupOptions(false)
      const known = [
        ...allSetups(env).filter(({ host }) => hosts.includes(host)),
        ...hosts.flatMap((host) => unrecorded(host, where, options)),
      ]
      const undone = known.flatMap((record) => planUndo(record) ?? []).filter((plan) => plan.isChanged)
      const imported = hosts.flatMap((host) => importedFiles(host, where, false).files)
      const restores = imported.flatMap((file) => planRestore(file, env) ?? []).filter(isChanged)
      const guards = isAll ? guardsToRemove(context) : []
      const dryRun = flags['dry-run'] === true
      const shown = [
        ...undone.map(undoLine),
        planText(restores, { restored: 'restore' }),
        ...guards.map((root) => escapeControls(`${root}: git guard`)),
      ].filter((line) => line !== '')
      const files = undone.map((one) => ({
        host: one.host,
        path: one.path,
        changed: one.isChanged,
        exact: one.isExact,
        removed: one.removes,
      }))
      const data = { files, restored: restores.map(fileData), guards, dry_run: dryRun }
      // Temporary files of an interrupted init, with the content of the user's file.
      if (!dryRun) for (const host of hosts) clearHalves(host, where, options)
      if (shown.length === 0) return { data, text: 'Nothing to remove.' }
      if (dryRun) return { data, text: shown.join('\n') }
      refuseAgent('heimdall uninstall')
      if (!(await consent(context, flags.yes === true, shown.join('\n'), 'Remove these?')))
        return {
          data: { ...data, files: [], restored: [], guards: [] },
          text: 'Nothing was changed.',
          exit: EXIT.failure,
        }
      await settingUp(env, async () => {
        // Our lines first, so that the import finds the file as it left it.
        for (const record of known) {
          const plan = planUndo(record)
          if (plan !== undefined && !writeUndo(plan, env)) throw busyFile(plan.path, plan.host)
        }
        for (const file of imported) await restoreConfig(file, env)
        for (const root of guards) uninstallHooks({ cwd: root, env })
        if (isAll) noteGuards(env, [])
      })
      return { data, text: [...shown, 'Removed. Restart the hosts.'].join('\n') }
    },
  }),
  command({
    names: ['heimdall hosts'],
    summary: 'List host sessions here, with their enforcement level',
    about:
      'A session is guarded if its hooks were called for every call of its last turn, otherwise advisory. Levels: 0 ' +
      'nothing is checked, 1 edits, 2 edits and shell commands, 3 other writes are detected too.',
    examples: { 'heimdall hosts': 'lists the sessions whose hooks were called here' },
    output:
      'state (guarded or advisory, of the weakest active session; null without one), sessions: list of {host, agent_id, session, pid, alive, state, level, why, last_event, last_event_at}',
    run: async ({ cwd, env, style }) => {
      const { hostSessions } = await import('../../spine/hooks/host-sessions.ts')
      const sessions = hostSessions(findProject(cwd, env))
      const alive = sessions.filter((session) => session.alive)
      const state = alive.length === 0 ? null : alive.some((one) => one.state === 'advisory') ? 'advisory' : 'guarded'
      const rows = sessions.map((one) => [
        one.agent_id ?? '?',
        one.host,
        one.alive ? one.state : 'ended',
        String(one.level),
        one.last_event_at,
        one.why,
      ])
      return {
        data: { state, sessions },
        text:
          rows.length === 0
            ? 'no host has called a hook in this repository yet'
            : renderTable(style, ['AGENT', 'HOST', 'STATE', 'LEVEL', 'LAST HOOK', 'WHY'], rows),
      }
    },
  }),
  command({
    names: ['heimdall hook'],
    summary: 'Answer a hook of a host; hosts call this after heimdall init',
    about:
      'Reads the payload of the hook from stdin and answers in the format of the host: denies an edit, patch or shell ' +
      'command that would write to paths that another active agent has claimed, and says who holds them. Registers and ' +
      'briefs the session when it starts, and reports questions to the user. If claims cannot be checked, the call is ' +
      'allowed with a warning, or denied with --strict. Exit code 0, or 2 if the host expects it for a denial.',
    args: [{ name: 'host', help: HOOK_HOSTS.join(', ') }],
    flags: { strict: { help: 'deny calls that cannot be checked' } },
    examples: {
      'heimdall hook claude': 'answers Claude Code; heimdall init puts this line into its settings',
      'heimdall hook codex --strict < payload.json': 'answers a recorded payload',
    },
    output: "the answer in the host's own format; --json changes nothing",
    run: async ({ env, cwd, stdin }, { args, flags }) => {
      const host = hookHost(args.host)
      if (host === undefined)
        throw usageError(`no hooks for host ${printable(args.host)}`, `known hosts: ${HOOK_HOSTS.join(', ')}`)
      if (stdin.isTTY) throw usageError('no payload on stdin: hosts call this command', 'heimdall init')
      return { data: null, text: '', streamed: true, exit: await runHook(host, flags.strict === true, env, cwd) }
    },
  }),
]
