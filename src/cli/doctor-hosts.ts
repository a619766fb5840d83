// doctor's look at hosts: are hooks there, are they ours and up to date, has the host switched them off, and were they ever called?
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { iso } from '../coordination/moment.ts'
import { allTrails, type Trail } from '../coordination/trail.ts'
import { fateOf } from '../coordination/who/process-ref.ts'
import { HeimdallError } from '../errors.ts'
import type { Whereabouts } from '../hosts/config-files.ts'
import { HOOK_HOSTS, type HookHost } from '../hosts/hooks/hook-table.ts'
import { HOSTS, type HostName } from '../hosts/host-table.ts'
import { isOwnHook, SETUPS } from '../hosts/init/host-setup.ts'
import { planSetup, type SetupPlan, writeSetupPlan } from '../hosts/init/setup-files.ts'
import { readSetup, type SetupRecord } from '../hosts/init/setup-record.ts'
import { switchedOff } from '../hosts/init/switched-off.ts'
import { findProject } from '../paths.ts'
import { lookAtProcesses } from '../processes.ts'
import { coverageOf } from '../spine/hooks/coverage.ts'
import { foundHosts } from './commands/hosts/found-hosts.ts'
import { hooksFolder, installedHooks, installHooks, ownCommand } from './commands/guard/git-hooks.ts'
import type { Context } from './command.ts'
import type { DoctorFinding } from './doctor.ts'

const ok = (found: string): DoctorFinding => ({ state: 'ok', found, fix: null })

const whereOf = ({ env, cwd }: Context): Whereabouts => ({ env, cwd, platform: process.platform })

function ownOptions(isStrict: boolean): Parameters<typeof planSetup>[2] {
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  return { own: { node, launcher }, isStrict }
}

/** One row for each host that has hooks. */
export const HOST_CHECKS: Readonly<Record<string, (context: Context) => DoctorFinding>> = Object.fromEntries(
  HOOK_HOSTS.map((host) => [`${host} hooks`, (context: Context) => checkHooks(context, host)]),
)

function checkHooks(context: Context, host: HookHost): DoctorFinding {
  const where = whereOf(context)
  const { title } = HOSTS[host]
  if (!foundHosts(where).includes(host)) return ok(`${title} is not on this machine`)
  const isStrict = isStrictAlready(host, where)
  const fix = `heimdall init ${host}${isStrict ? ' --strict' : ''}`
  const plans = planSetup(host, where, ownOptions(isStrict))
  const plan = plans.find(({ what }) => what.includes('hooks'))
  const broken = plans.find(({ problem }) => problem !== undefined)
  if (plan === undefined || broken !== undefined)
    return {
      state: 'fail',
      found: `${broken?.path ?? title}: ${broken?.problem ?? ''}`,
      fix: `mend the file, then: ${fix}`,
    }
  const record = readSetup(context.env, plan.realPath)
  // What stands there, whoever put it there: what is planned on is without lines of another installation.
  if (!isOwnHook(plan.bytes?.toString('utf8')) && record === undefined)
    return { state: 'warn', found: `${title} has no hooks of ours: nothing that it writes by itself is checked`, fix }
  const state = installedState(plan, record)
  // Its own lines, where init has put them before with somebody's word.
  if (state !== undefined)
    return record === undefined ? { ...state, fix } : { ...state, fix, mend: () => renew(plan, context, isStrict) }
  const off = switchedOff(host, where)
  if (off !== undefined) return { state: 'fail', found: `${title} has hooks switched off: ${off.found}`, fix: off.fix }
  return checkCalls(context, host)
}

/** What is wrong with what stands in the file. */
function installedState(
  plan: SetupPlan,
  record: SetupRecord | undefined,
): Pick<DoctorFinding, 'state' | 'found'> | undefined {
  const missing = [record?.own.node, record?.own.launcher].find((path) => path !== undefined && !existsSync(path))
  if (missing !== undefined)
    return {
      state: 'fail',
      found: `${plan.path} starts hooks by ${missing}, which is gone: they end with 127, unheard`,
    }
  if (plan.edits.length === 0) return undefined
  return { state: 'fail', found: `${plan.path} does not have all hooks of this version, or calls another one` }
}

function renew(plan: SetupPlan, { env }: Context, isStrict: boolean): void {
  writeSetupPlan(plan, env, ownOptions(isStrict))
}

/** As its hooks were put in: whoever wanted them strict still does. */
function isStrictAlready(host: HookHost, where: Whereabouts): boolean {
  const plan = planSetup(host, where, ownOptions(false)).find(({ what }) => what.includes('hooks'))
  return plan?.bytes?.toString('utf8').includes(` hook ${host} --strict`) === true
}

/** Files prove nothing; calls do. */
function checkCalls({ cwd, env }: Context, host: HookHost): DoctorFinding {
  const project = findProject(cwd, env)
  const trails = allTrails(project).filter(({ lines }) => lines.at(-1)?.host === host)
  const last = trails.toSorted((a, b) => lastAt(b) - lastAt(a))[0]
  if (last === undefined)
    return {
      state: 'warn',
      found: `hooks are in place, and none was ever called in this repository${host === 'codex' ? ': Codex runs them once they are trusted' : ''}`,
      fix:
        host === 'codex'
          ? 'start codex here in a terminal and trust the hooks when it asks (/hooks)'
          : `start ${SETUPS[host].programs[0] ?? host} here`,
    }
  const { state, why } = coverageOf(project, last)
  const found = `last called ${iso(lastAt(last))}`
  if (state === 'guarded') return ok(found)
  return {
    state: 'fail',
    found: `${found}; ${why.replace('; heimdall doctor says why', '')}`,
    fix: `look for another file that replaces ${host}’s hooks, then: heimdall init ${host}, and start it anew`,
  }
}

const lastAt = ({ lines }: Trail): number => lines.at(-1)?.at ?? 0

/** Live sessions whose claims are advice: the repository is as guarded as the weakest of them. */
export function checkHostSessions({ cwd, env }: Context): DoctorFinding {
  const project = findProject(cwd, env)
  const trails = allTrails(project).filter(
    ({ tree, lines }) => fateOf(tree) !== 'gone' && lines.at(-1)?.event !== 'session-end',
  )
  const weak = trails.filter((trail) => coverageOf(project, trail).state === 'advisory')
  const [first] = weak
  if (first === undefined) return ok(`${trails.length} host sessions at work, all guarded`)
  return {
    state: 'fail',
    found: `${weak.length} of ${trails.length} host sessions are advisory: ${first.lines.at(-1)?.host ?? ''}, ${coverageOf(project, first).why}`,
    fix: 'heimdall hosts says which; start them anew',
  }
}

/**
 * Codex hands its terminals to a server in the background, unless told otherwise: all of them have the parents and the
 * environment of whoever started it first, and are one agent.
 */
export function checkCodexServer({ env }: Context): DoctorFinding {
  const table = lookAtProcesses()
  const home = codexHome(env['CODEX_HOME'], env['HOME'])
  const servers = table.all().filter(({ pid, isZombie }) => {
    const [program = '', verb, ...rest] = isZombie ? [] : table.commandWords(pid)
    const isServer = basename(program) === 'codex' && verb === 'app-server' && rest.includes('--managed-daemon')
    const asked = (name: string): string | undefined => table.inEnvironment(pid, name)
    return isServer && codexHome(asked('CODEX_HOME'), asked('HOME')) === home
  })
  if (servers.length === 0) return ok('no server of Codex runs in the background')
  return {
    state: 'warn',
    found: `Codex runs its terminals in one server (pid ${servers.map(({ pid }) => pid).join(', ')}): they count as the agent that started it`,
    fix: 'codex app-server daemon stop, and start it as codex --no-daemon',
  }
}

const codexHome = (moved: string | undefined, home: string | undefined): string =>
  moved === undefined || moved === '' ? join(home ?? '', '.codex') : moved

export function checkLedgerServers(context: Context): DoctorFinding {
  const where = whereOf(context)
  const lost = foundHosts(where).filter((host) => !hasLedger(host, where))
  if (lost.length === 0) return ok('every host that is found starts the ledger server')
  return {
    state: 'warn',
    found: `${lost.map((host) => HOSTS[host].title).join(', ')} cannot ask the ledger`,
    // Each with a command of its own, where one of them is strict and another is not.
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

export function checkGuard(context: Context): DoctorFinding {
  const { gitCommonDir, root } = findProject(context.cwd, context.env)
  if (gitCommonDir === undefined) return ok('no git repository, nothing to guard')
  try {
    const hooks = installedHooks(hooksFolder(context))
    const fix = 'heimdall guard install'
    const mend = (): void => void installHooks(context, ownCommand(process.execPath, process.argv[1] ?? ''))
    if (hooks.ours === 0) return { state: 'warn', found: `commits in ${root} are not guarded`, fix }
    if (hooks.ours < hooks.all)
      return { state: 'fail', found: `${hooks.ours} of ${hooks.all} hooks of the guard are there`, fix, mend }
    if (hooks.lost !== undefined)
      return { state: 'fail', found: `the guard is started by ${hooks.lost}, which is gone`, fix, mend }
    return ok('commits and pushes are guarded')
  } catch (error) {
    if (!(error instanceof HeimdallError) || !error.code.startsWith('GUARD_')) throw error
    return { state: 'fail', found: error.message, fix: error.hint ?? null }
  }
}
