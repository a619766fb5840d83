// doctor --security: who else could read or change what is ours, and what an agent may do that passes nobody.
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { configFiles } from '../hosts/config-files.ts'
import { HOST_NAMES, HOSTS } from '../hosts/host-table.ts'
import { planImport } from '../hosts/import-config.ts'
import { allSetups } from '../hosts/init/setup-record.ts'
import { findProject, stateDirName } from '../paths.ts'
import { readFileIfThere } from '../storage/atomic-file.ts'
import { ownCommand } from './commands/guard/git-hooks.ts'
import type { Context } from './command.ts'
import type { DoctorFinding } from './doctor.ts'

const ok = (found: string): DoctorFinding => ({ state: 'ok', found, fix: null })

export const SECURITY_CHECKS: Readonly<Record<string, (context: Context) => DoctorFinding>> = {
  'private state': ({ env }) => checkPrivate(stateDirName(env), 0o700),
  'private secrets': ({ env }) => checkPrivate(join(stateDirName(env), 'secrets/secrets.json'), 0o600),
  'private keys': checkKeys,
  'unseen servers': checkServers,
  'project files': checkProjectFiles,
  'strict hooks': checkStrict,
}

function checkPrivate(path: string, mode: number): DoctorFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return ok(`${path} is not there`)
  if ((stats.mode & 0o077) === 0) return ok(`${path} is its owner’s alone`)
  return {
    state: 'fail',
    found: `${path} is open to other users`,
    fix: `chmod ${mode.toString(8)} ${path}`,
    mend: () => chmodSync(path, mode),
  }
}

/** Whoever reads a key may act as its agent. */
function checkKeys({ cwd, env }: Context): DoctorFinding {
  const folder = join(findProject(cwd, env).coordinationDir, 'keys')
  const keys = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.key')) : []
  const open = keys.map((name) => join(folder, name)).filter((path) => (statSync(path).mode & 0o077) !== 0)
  const [first] = open
  if (first === undefined) return ok(`${keys.length} keys of agents are their owner’s alone`)
  return {
    state: 'fail',
    found: `${open.length} keys of agents are open to other users: ${first}`,
    fix: `chmod 600 ${folder}/*.key`,
    mend: () => {
      for (const path of open) chmodSync(path, 0o600)
    },
  }
}

/** Servers of hosts whose calls pass no shim: no policy, no record, no claims. */
function checkServers({ env, cwd, clock }: Context): DoctorFinding {
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const options = { env, own: { node, launcher }, passEnv: [], nowMs: clock.wallMs() }
  const unseen = HOST_NAMES.flatMap((host) =>
    configFiles(host, { env, cwd, platform: process.platform })
      .filter(({ problem }) => problem === undefined)
      .flatMap((file) => (planImport(file, options)?.servers ?? []).map((server) => ({ ...server, level: file.level })))
      .filter(({ outcome, at }) => outcome === 'wrapped' || (outcome === 'left' && at.at(-1) !== 'heimdall-ledger'))
      .map(({ at, level }) => ({ host, name: at.at(-1) ?? '', isShared: level === 'project' })),
  )
  if (unseen.length === 0) return ok('every server of every host is behind the shim')
  return {
    state: 'warn',
    found: `calls of ${unseen.map(({ host, name }) => `${name} (${HOSTS[host].title})`).join(', ')} pass no shim`,
    fix: [...importsFor(unseen), 'remote servers: heimdall shim --url'].join('; '),
  }
}

/** Files of a project are changed only by who says so. */
function importsFor(unseen: readonly { readonly host: string; readonly isShared: boolean }[]): string[] {
  return [false, true].flatMap((isShared) => {
    const hosts = new Set(unseen.filter((one) => one.isShared === isShared).map(({ host }) => host))
    return hosts.size === 0 ? [] : [`heimdall import ${[...hosts].join(' ')}${isShared ? ' --shared' : ''}`]
  })
}

/** What a clone brings along and a host may start by itself. */
const STARTING = [
  '.mcp.json',
  '.claude/settings.json',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.cursor/mcp.json',
  '.cursor/hooks.json',
  '.gemini/settings.json',
  '.vscode/mcp.json',
]

function checkProjectFiles({ cwd, env }: Context): DoctorFinding {
  const { root } = findProject(cwd, env)
  const found = STARTING.filter((path) =>
    /"?(?:command|mcp_servers)"?\s*[:=\].]/.test(readFileIfThere(join(root, path))?.toString('utf8') ?? ''),
  )
  if (found.length === 0) return ok('nothing in this project starts a program of its own in a host')
  return {
    state: 'warn',
    found: `${found.join(', ')} of this project start programs in hosts`,
    fix: 'read them before you trust the project in a host',
  }
}

function checkStrict({ env }: Context): DoctorFinding {
  const open = allSetups(env).filter(({ path }) => {
    const text = readFileIfThere(path)?.toString('utf8') ?? ''
    return / hook (?:claude|codex|gemini|cursor)\b/.test(text) && !text.includes('--strict')
  })
  if (open.length === 0) return ok('no hook lets through what it cannot check')
  return {
    state: 'warn',
    found: `hooks in ${open.map(({ path }) => path).join(', ')} let calls through that they cannot check`,
    fix: 'heimdall init --strict',
  }
}
