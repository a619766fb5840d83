// heimdall policy init: a first policy, from what the servers of a host list, or as a copy of a ready one.
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { EXIT, HeimdallError, isErrno } from '../../errors.ts'
import { HOST_NAMES, HOSTS } from '../../hosts/host-table.ts'
import { type HostServer, hostServers } from '../../hosts/host-servers.ts'
import { escapeControls, printable } from '../../ids.ts'
import { ASKED_SERVERS_AT_ONCE } from '../../limits.ts'
import { readCases, runCases } from '../../policy/bundle/cases.ts'
import { compileBundle } from '../../policy/bundle/compile.ts'
import { type StarterServer, starterPolicy } from '../../policy/starter.ts'
import { requirePerson } from '../../person.ts'
import { diskError } from '../../storage/faults.ts'
import type { Answer, Context, Run } from '../command.ts'
import type { initSpec } from './policy.ts'
import { ownCommand } from '../../spine/guard/git-hooks.ts'
import { consent } from '../consent.ts'
import { hostsNamed } from '../render/plan-text.ts'
import { askTools } from '../../shim/ask-tools.ts'
import { readPolicyFile } from '../policy-file.ts'

export const init: Run<typeof initSpec> = async (context, { flags }) => {
  const out = { policy: flags.out, cases: `${flags.out.replace(/\.(ya?ml|json)$/, '')}.cases.yaml` }
  const isDry = flags['dry-run'] === true
  if (!isDry) for (const path of Object.values(out)) refuseExisting(context, path)
  if (flags.from !== undefined) return await copied(context, flags.from, out, isDry)
  const hosts = flags.host.length === 0 ? HOST_NAMES : hostsNamed(flags.host)
  const where = { env: context.env, cwd: context.cwd, platform: process.platform }
  const found = hosts.flatMap((host) => hostServers(host, where))
  if (found.length === 0)
    throw new HeimdallError('HOST_NOT_FOUND', `${hosts.map((host) => HOSTS[host].title).join(', ')}: no servers here`, {
      hint: 'heimdall policy init --from safe-defaults copies a ready policy',
    })
  const isAllowed = flags.shared === true && (isDry || (await isConsented(context, found)))
  const servers = found.map((server): HostServer => (isForeign(server) && !isAllowed ? untouched(server) : server))
  if (isDry) return dryRun(servers)
  const asked = await askAll(context, servers)
  const hostsOf = [...new Set(servers.map(({ host }) => HOSTS[host].title))].join(', ')
  const starter = starterPolicy(merged(asked), ` for the servers of ${hostsOf}`, basename(out.policy))
  await prove(starter, out.policy)
  writeBoth(context, out, starter)
  const { reads, writes, destroys, unknown } = starter.counts
  return {
    data: { ...out, servers: asked.map(({ row }) => row), tools: starter.counts, dry_run: false },
    text: [
      ...asked.map(({ row }) => lineOf(row)),
      ...starter.leftOut.map((name) => `${printable(name)} cannot be written in a policy; a human is asked about it`),
      `${out.policy}: ${reads} tools read, ${writes} write, ${destroys} destroy, ${unknown} unknown`,
      `heimdall policy test ${out.cases} tries it; heimdall mcp shim --policy ${out.policy} uses it`,
    ]
      .map(escapeControls)
      .join('\n'),
    ...(asked.some(({ row }) => row.outcome === 'asked') ? {} : { exit: EXIT.failure }),
  }
}

interface Out {
  readonly policy: string
  readonly cases: string
}

interface Row {
  readonly name: string
  readonly host: string
  readonly file: string
  readonly outcome: 'asked' | 'silent' | 'skipped' | 'would_ask'
  readonly tools: number | null
  readonly why: string | null
}

/** A repository must not start programs by itself. */
function isForeign({ file }: HostServer): boolean {
  return file.level === 'project'
}

function untouched(server: HostServer): HostServer {
  const why = server.start === null ? server.why : 'it belongs to a project file; --shared asks whether to start it'
  return { ...server, start: null, why }
}

async function isConsented(context: Context, servers: readonly HostServer[]): Promise<boolean> {
  const lines = servers
    .filter((server) => isForeign(server) && server.start !== null)
    .map(({ name, file, start }) => escapeControls(`${file.path}: ${name}: ${start?.words.join(' ') ?? ''}`))
  if (lines.length === 0) return true
  // Only a human can agree: there is no --yes.
  requirePerson('heimdall policy init --shared')
  return await consent(context, false, lines.join('\n'), 'Start these programs of the project?', {
    what: 'programs that the project names would be started',
    hint: 'call it at a terminal, or without --shared',
  })
}

function dryRun(servers: readonly HostServer[]): Answer {
  const rows = servers.map((server): Row => ({
    ...rowOf(server),
    outcome: server.start === null ? 'skipped' : 'would_ask',
  }))
  const lines = servers.map(({ name, start, why }) =>
    escapeControls(start === null ? `${name}: not started: ${why}` : `${name}: would start ${start.words.join(' ')}`),
  )
  return {
    data: { policy: null, cases: null, servers: rows, tools: null, dry_run: true },
    text: [...lines, 'Nothing was started or written.'].join('\n'),
  }
}

function rowOf({ name, host, file, why }: HostServer): Row {
  return { name, host, file: file.path, outcome: 'skipped', tools: null, why }
}

type AskedServer = StarterServer & { readonly row: Row }

async function askAll(context: Context, servers: readonly HostServer[]): Promise<AskedServer[]> {
  const own = ownCommand(process.execPath, process.argv[1] ?? '')
  const asking = { own, env: context.env, cwd: context.cwd, clock: context.clock }
  const done: AskedServer[] = []
  for (let from = 0; from < servers.length; from += ASKED_SERVERS_AT_ONCE)
    done.push(
      ...(await Promise.all(
        servers.slice(from, from + ASKED_SERVERS_AT_ONCE).map(async (server): Promise<AskedServer> => {
          const { name, start, why } = server
          const row = rowOf(server)
          if (start === null) return { name, tools: null, why, row }
          const answer = await askTools({ name, start }, asking)
          return 'why' in answer
            ? { name, tools: null, why: answer.why, row: { ...row, outcome: 'silent', why: answer.why } }
            : { name, tools: answer.tools, why: null, row: { ...row, outcome: 'asked', tools: answer.tools.length } }
        }),
      )),
    )
  return done
}

/** Several hosts may have servers of one name; a policy knows only names. */
function merged(asked: readonly AskedServer[]): StarterServer[] {
  const byName = new Map<string, StarterServer>()
  for (const { name, tools, why } of asked) {
    const known = byName.get(name)
    const more = tools?.filter((tool) => known?.tools?.some((one) => one.name === tool.name) !== true) ?? null
    if (known?.tools == null) byName.set(name, { name, tools: more, why })
    else byName.set(name, { name, tools: [...known.tools, ...(more ?? [])], why: null })
  }
  return [...byName.values()]
}

/** Checked before it is written: it compiles, and its own cases pass. */
async function prove({ policy, cases }: ReturnType<typeof starterPolicy>, name: string): Promise<void> {
  const snapshot = await compileBundle(policy, { name })
  const failed = runCases(snapshot, (await readCases(cases, name)).cases).find(({ passed }) => !passed)
  if (failed !== undefined)
    throw new HeimdallError(
      'INTERNAL',
      `the policy fails its own case ${printable(failed.name)}: ${failed.failures[0]}`,
    )
}

async function copied(context: Context, name: string, out: Out, isDry: boolean): Promise<Answer> {
  const folder = join(dirname(createRequire(import.meta.url).resolve('heimdall-agents/package.json')), 'policies')
  const policy = await readPolicyFile(context, join(folder, `${name}.yaml`))
  const cases = await readPolicyFile(context, join(folder, `${name}.cases.yaml`))
  if (!isDry) {
    const named = cases.replace(/^policy: .*$/m, `policy: ${JSON.stringify(basename(out.policy))}`)
    writeBoth(context, out, { policy, cases: named })
  }
  return {
    data: { ...(isDry ? { policy: null, cases: null } : out), servers: [], tools: null, dry_run: isDry },
    text: isDry
      ? `would copy ${name} to ${out.policy} and ${out.cases}`
      : `${out.policy} and ${out.cases}: copies of ${name}`,
  }
}

function lineOf({ name, host, tools, why }: Row): string {
  return tools === null ? `${name} (${host}): not in it: ${why}` : `${name} (${host}): ${tools} tools`
}

function refuseExisting(context: Context, path: string): void {
  if (existsSync(context.resolve(path))) throw exists(path)
}

/** Both files or none, so that the next attempt does not find one of them. */
function writeBoth(context: Context, out: Out, texts: Out): void {
  const made: string[] = []
  try {
    for (const name of ['policy', 'cases'] as const) {
      const path = context.resolve(out[name])
      writeNew(out[name], path, texts[name], () => made.push(path))
    }
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    throw error
  }
}

function writeNew(name: string, path: string, text: string, onMade: () => void): void {
  try {
    const fd = openSync(path, 'wx', 0o666)
    onMade()
    try {
      writeFileSync(fd, text)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (isErrno(error, 'EEXIST')) throw exists(name)
    if (!isErrno(error, 'ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR')) throw diskError(name, error)
    throw new HeimdallError('POLICY_UNREADABLE', `${name} cannot be written (${error.code})`, {
      hint: '--out names another file, in a folder that exists and is writable',
      cause: error,
    })
  }
}

function exists(path: string): HeimdallError {
  return new HeimdallError('FILE_EXISTS', `${path} exists and is not overwritten`, {
    hint: '--out writes to another file',
  })
}
