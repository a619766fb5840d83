// Checks of `heimdall doctor` on hosts: hooks installed, current, enabled and called; ledger server; git guard.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { iso } from '../../coordination/moment.ts'
import { allTrails, type Trail } from '../../coordination/trail.ts'
import { fateOf } from '../../coordination/who/process-ref.ts'
import { HeimdallError } from '../../errors.ts'
import type { Whereabouts } from '../../hosts/config-files.ts'
import { HOOK_HOSTS, type HookHost } from '../../hosts/hooks/hook-table.ts'
import { HOSTS, type HostName } from '../../hosts/host-table.ts'
import { isOwnHook, SETUPS } from '../../hosts/init/host-setup.ts'
import { planSetup, type SetupPlan, writeSetupPlan } from '../../hosts/init/setup-files.ts'
import { readSetup, type SetupRecord } from '../../hosts/init/setup-record.ts'
import { switchedOff } from '../../hosts/init/switched-off.ts'
import { findProject } from '../../paths.ts'
import { lookAtProcesses } from '../../processes.ts'
import { coverageOf } from '../hooks/coverage.ts'
import { foundHosts } from '../../hosts/init/found-hosts.ts'
import { hooksFolder, installedHooks, installHooks, ownCommand } from '../guard/git-hooks.ts'
import { type DoctorContext, type DoctorFinding, ok } from './finding.ts'

const whereOf = ({ env, cwd }: DoctorContext): Whereabouts => ({ env, cwd, platform: process.platform })

function ownOptions(isStrict: boolean): Parameters<typeof planSetup>[2] {
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  return { own: { node, launcher }, isStrict }
}

/** One check for each host that has hooks. */
export const HOST_CHECKS: Readonly<Record<string, (context: DoctorContext) => DoctorFinding>> = Object.fromEntries(
  HOOK_HOSTS.map((host) => [`${host} hooks`, (context: DoctorContext) => checkHooks(context, host)]),
)

function checkHooks(context: DoctorContext, host: HookHost): DoctorFinding {
  const where = whereOf(context)
  const { title } = HOSTS[host]
  if (!foundHosts(where).includes(host)) return ok(`${title} is not installed`)
  const isStrict = isStrictAlready(host, where)
  const fix = `heimdall init ${host}${isStrict ? ' --strict' : ''}`
  const plans = planSetup(host, where, ownOptions(isStrict))
  const plan = plans.find(({ what }) => what.includes('hooks'))
  const broken = plans.find(({ problem }) => problem !== undefined)
  if (plan === undefined || broken !== undefined)
    return {
      state: 'fail',
      found: `${broken?.path ?? title}: ${broken?.problem ?? ''}`,
      fix: `correct the file, then run: ${fix}`,
    }
  const record = readSetup(context.env, plan.realPath)
  // The file itself: the plan's text leaves out lines of another installation.
  if (!isOwnHook(plan.bytes?.toString('utf8')) && record === undefined)
    return { state: 'warn', found: `${title} has no Heimdall hooks: its edits and commands are not checked`, fix }
  const state = installedState(plan, record)
  // --fix renews only lines that `heimdall init` wrote before.
  if (state !== undefined)
    return record === undefined ? { ...state, fix } : { ...state, fix, mend: () => renew(plan, context, isStrict) }
  const off = switchedOff(host, where)
  if (off !== undefined) return { state: 'fail', found: `${title} has hooks disabled: ${off.found}`, fix: off.fix }
  return checkCalls(context, host)
}

/** What is wrong with the hooks in the file, if anything. */
function installedState(
  plan: SetupPlan,
  record: SetupRecord | undefined,
): Pick<DoctorFinding, 'state' | 'found'> | undefined {
  const missing = [record?.own.node, record?.own.launcher].find((path) => path !== undefined && !existsSync(path))
  if (missing !== undefined)
    return {
      state: 'fail',
      found: `${plan.path} runs hooks with ${missing}, which does not exist: no hook works`,
    }
  if (plan.edits.length === 0) return undefined
  return { state: 'fail', found: `hooks in ${plan.path} are incomplete or of another version` }
}

function renew(plan: SetupPlan, { env }: DoctorContext, isStrict: boolean): void {
  writeSetupPlan(plan, env, ownOptions(isStrict))
}

/** Hooks that were installed with --strict stay strict. */
function isStrictAlready(host: HookHost, where: Whereabouts): boolean {
  const plan = planSetup(host, where, ownOptions(false)).find(({ what }) => what.includes('hooks'))
  return plan?.bytes?.toString('utf8').includes(` hook ${host} --strict`) === true
}

/** An entry in a file does not prove that the host runs it; a call does. */
function checkCalls({ cwd, env }: DoctorContext, host: HookHost): DoctorFinding {
  const project = findProject(cwd, env)
  const trails = allTrails(project).filter(({ lines }) => lines.at(-1)?.host === host)
  const last = trails.toSorted((a, b) => lastAt(b) - lastAt(a))[0]
  if (last === undefined)
    return {
      state: 'warn',
      found: `hooks are installed but were never called in this repository${host === 'codex' ? ': Codex runs hooks only after you trust them' : ''}`,
      fix:
        host === 'codex'
          ? 'start codex here in a terminal and trust the hooks (/hooks)'
          : `start ${SETUPS[host].programs[0] ?? host} here`,
    }
  const { state, why } = coverageOf(project, last)
  const found = `last called ${iso(lastAt(last))}`
  if (state === 'guarded') return ok(found)
  return {
    state: 'fail',
    found: `${found}; ${why.replace('; heimdall doctor says why', '')}`,
    fix: `look for a config file that overrides the hooks, then run: heimdall init ${host}`,
  }
}

const lastAt = ({ lines }: Trail): number => lines.at(-1)?.at ?? 0

/** Active sessions whose calls are not checked. */
export function checkHostSessions({ cwd, env }: DoctorContext): DoctorFinding {
  const project = findProject(cwd, env)
  const trails = allTrails(project).filter(
    ({ tree, lines }) => fateOf(tree) !== 'gone' && lines.at(-1)?.event !== 'session-end',
  )
  const weak = trails.filter((trail) => coverageOf(project, trail).state === 'advisory')
  const [first] = weak
  if (first === undefined) return ok(`${trails.length} active host sessions, all guarded`)
  return {
    state: 'fail',
    found: `${weak.length} of ${trails.length} active host sessions are not guarded: ${first.lines.at(-1)?.host ?? ''}, ${coverageOf(project, first).why}`,
    fix: 'restart the sessions that this lists: heimdall hosts',
  }
}

/**
 * By default Codex runs its terminals in one background server. All of them have the ancestors and the environment of
 * the process that started the server, so they count as one agent.
 */
export function checkCodexServer({ env }: DoctorContext): DoctorFinding {
  const table = lookAtProcesses()
  const home = codexHome(env['CODEX_HOME'], env['HOME'])
  const servers = table.all().filter(({ pid, isZombie }) => {
    const [program = '', verb, ...rest] = isZombie ? [] : table.commandWords(pid)
    const isServer = basename(program) === 'codex' && verb === 'app-server' && rest.includes('--managed-daemon')
    const asked = (name: string): string | undefined => table.inEnvironment(pid, name)
    return isServer && codexHome(asked('CODEX_HOME'), asked('HOME')) === home
  })
  if (servers.length === 0) return ok('no Codex server runs in the background')
  return {
    state: 'warn',
    found: `Codex runs all terminals in one server (pid ${servers.map(({ pid }) => pid).join(', ')}), so they count as one agent`,
    fix: 'codex app-server daemon stop && codex --no-daemon',
  }
}

const codexHome = (moved: string | undefined, home: string | undefined): string =>
  moved === undefined || moved === '' ? join(home ?? '', '.codex') : moved

export function checkLedgerServers(context: DoctorContext): DoctorFinding {
  const where = whereOf(context)
  const lost = foundHosts(where).filter((host) => !hasLedger(host, where))
  if (lost.length === 0) return ok('all installed hosts start the ledger server')
  return {
    state: 'warn',
    found: `the ledger server is not set up in ${lost.map((host) => HOSTS[host].title).join(', ')}`,
    // Hosts with strict hooks need a command of their own.
    fix: [...new Set(lost.map((host) => isHookHost(host) && isStrictAlready(host, where)))]
      .map((isStrict) =>
        ['heimdall init', ...lost.filter((host) => (isHookHost(host) && isStrictAlready(host, where)) === isStrict)]
          .concat(isStrict ? ['--strict'] : [])
          .join(' '),
      )
      .join(' && '),
  }
}

const isHookHost = (host: HostName): host is HookHost => (HOOK_HOSTS as readonly string[]).includes(host)

const hasLedger = (host: HostName, where: Whereabouts): boolean =>
  planSetup(host, where, ownOptions(false))
    .filter(({ what }) => what.includes('ledger server'))
    .some(({ before, problem }) => problem === undefined && before.includes('heimdall-ledger-mcp'))

export function checkGuard(context: DoctorContext): DoctorFinding {
  const { gitCommonDir, root } = findProject(context.cwd, context.env)
  if (gitCommonDir === undefined) return ok('not a git repository')
  try {
    const hooks = installedHooks(hooksFolder(context))
    const fix = 'heimdall guard install'
    const mend = (): void => void installHooks(context, ownCommand(process.execPath, process.argv[1] ?? ''))
    if (hooks.ours === 0) return { state: 'warn', found: `commits in ${root} are not guarded`, fix }
    if (hooks.ours < hooks.all)
      return { state: 'fail', found: `only ${hooks.ours} of ${hooks.all} git hooks are installed`, fix, mend }
    if (hooks.lost !== undefined)
      return { state: 'fail', found: `git hooks run ${hooks.lost}, which does not exist`, fix, mend }
    return ok('commits and pushes are guarded')
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('GUARD_')) throw error
    return { state: 'fail', found: error.message, fix: error.hint ?? null }
  }
}
