// Checks of `heimdall doctor --security`: files that other users can read, and calls that no check sees.
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { configFiles } from '../../hosts/config-files.ts'
import { HOST_NAMES, HOSTS } from '../../hosts/host-table.ts'
import { planImport } from '../../hosts/import-config.ts'
import { allSetups } from '../../hosts/init/setup-record.ts'
import { findProject, stateDirName } from '../../paths.ts'
import { quoted } from '../../quoted.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { ownCommand } from '../guard/git-hooks.ts'
import { type DoctorContext, type DoctorFinding, ok } from './finding.ts'

export const SECURITY_CHECKS: Readonly<Record<string, (context: DoctorContext) => DoctorFinding>> = {
  'private state': ({ env }) => checkPrivate(stateDirName(env), 0o700),
  'private secrets': ({ env }) => checkPrivate(join(stateDirName(env), 'secrets/secrets.json'), 0o600),
  'private keys': checkKeys,
  'unseen servers': checkServers,
  'project files': checkProjectFiles,
  'strict hooks': checkStrict,
}

function checkPrivate(path: string, mode: number): DoctorFinding {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return ok(`${path} does not exist`)
  if ((stats.mode & 0o077) === 0) return ok(`only you can read ${path}`)
  return {
    state: 'fail',
    found: `${path} is open to other users`,
    fix: `chmod ${mode.toString(8)} ${quoted(path)}`,
    mend: () => chmodSync(path, mode),
  }
}

/** A process that can read a key can act as its agent. */
function checkKeys({ cwd, env }: DoctorContext): DoctorFinding {
  const folder = join(findProject(cwd, env).coordinationDir, 'keys')
  const keys = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.key')) : []
  const open = keys.map((name) => join(folder, name)).filter((path) => (statSync(path).mode & 0o077) !== 0)
  const [first] = open
  if (first === undefined) return ok(`only you can read the keys of ${keys.length} agents`)
  return {
    state: 'fail',
    found: `${open.length} keys of agents are open to other users: ${first}`,
    fix: `chmod 600 ${quoted(folder)}/*.key`,
    mend: () => {
      for (const path of open) chmodSync(path, 0o600)
    },
  }
}

/** MCP servers whose calls do not pass through the shim: no policy, no record, no claims. */
function checkServers({ env, cwd, clock }: DoctorContext): DoctorFinding {
  const [node = '', launcher = ''] = ownCommand(process.execPath, process.argv[1] ?? '')
  const options = { env, own: { node, launcher }, passEnv: [], nowMs: clock.wallMs() }
  const unseen = HOST_NAMES.flatMap((host) =>
    configFiles(host, { env, cwd, platform: process.platform })
      .filter(({ problem }) => problem === undefined)
      .flatMap((file) => (planImport(file, options)?.servers ?? []).map((server) => ({ ...server, level: file.level })))
      .filter(({ outcome, at }) => outcome === 'wrapped' || (outcome === 'left' && at.at(-1) !== 'heimdall-ledger'))
      .map(({ at, level, outcome }) => ({ host, name: at.at(-1) ?? '', isShared: level === 'project', outcome })),
  )
  if (unseen.length === 0) return ok('all MCP servers of all hosts are behind the shim')
  return {
    state: 'warn',
    found: `calls to ${unseen.map(({ host, name }) => `${name} (${HOSTS[host].title})`).join(', ')} bypass the shim`,
    fix: [
      importsFor(unseen.filter(({ outcome }) => outcome === 'wrapped')).join(' && '),
      unseen.some(({ outcome }) => outcome === 'left') ? 'for remote servers: heimdall mcp shim --url URL' : '',
    ]
      .filter((one) => one !== '')
      .join('; '),
  }
}

/** Files of a project are imported only with --shared. */
function importsFor(unseen: readonly { readonly host: string; readonly isShared: boolean }[]): string[] {
  return [false, true].flatMap((isShared) => {
    const hosts = new Set(unseen.filter((one) => one.isShared === isShared).map(({ host }) => host))
    return hosts.size === 0 ? [] : [`heimdall mcp import ${[...hosts].join(' ')}${isShared ? ' --shared' : ''}`]
  })
}

/** Files of a clone that may make a host start programs. */
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

function checkProjectFiles({ cwd, env }: DoctorContext): DoctorFinding {
  const { root } = findProject(cwd, env)
  const found = STARTING.filter((path) =>
    /"?(?:command|mcp_servers)"?\s*[:=\].]/.test(readFileIfThere(join(root, path))?.toString('utf8') ?? ''),
  )
  if (found.length === 0) return ok('no file of this project starts programs in a host')
  return {
    state: 'warn',
    found: `${found.join(', ')} in this project start programs in hosts`,
    fix: 'read them before you trust the project in a host',
  }
}

function checkStrict({ env }: DoctorContext): DoctorFinding {
  const open = allSetups(env).filter(({ path }) => {
    const text = readFileIfThere(path)?.toString('utf8') ?? ''
    return / hook (?:claude|codex|gemini|cursor)\b/.test(text) && !text.includes('--strict')
  })
  if (open.length === 0) return ok('hooks deny calls that they cannot check')
  return {
    state: 'warn',
    found: `hooks in ${open.map(({ path }) => path).join(', ')} allow calls that they cannot check`,
    fix: 'heimdall init --strict',
  }
}
