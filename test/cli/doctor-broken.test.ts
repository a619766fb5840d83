// Every row of doctor has something that is broken on purpose, by which it says what is wrong and what mends it. A row without one fails here.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { bootId } from '../../src/boot-id.ts'
import { readStat } from '../../src/processes.ts'
import { watcherPath } from '../../src/watcher-process.ts'
import { HOOK_HOSTS, type HookHost } from '../../src/hosts/hooks/hook-table.ts'
import { playHost } from '../support/played-host.ts'
import { launcher, runProgram, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

interface Row {
  readonly check: string
  readonly state: string
  readonly found: string
  readonly fix: string | null
}

interface Broken {
  readonly breaks: (project: TemporaryProject) => unknown
  readonly state: 'fail' | 'warn'
  readonly found: RegExp
  readonly fix: RegExp
}

/** Fixtures that do not disturb each other, in one project. */
interface Wreck {
  readonly title: string
  readonly git?: false
  readonly env?: (project: TemporaryProject) => Readonly<Record<string, string>>
  /** Before anything is broken. */
  readonly lived?: (project: TemporaryProject) => Promise<unknown>
  readonly rows: Readonly<Record<string, Broken>>
}

async function doctor(
  project: TemporaryProject,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; rows: Map<string, Row> }> {
  const { code, stdout, stderr } = await runProgram([...launcher('heimdall'), 'doctor', '--json', '--security'], {
    cwd: project.root,
    env: { ...project.env, ...env },
  })
  if (!stdout.startsWith('{')) throw new Error(stdout + stderr)
  const { data } = JSON.parse(stdout) as { data: { checks: Row[] } }
  return { code, rows: new Map(data.checks.map((row) => [row.check, row])) }
}

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const inHome = ({ home }: TemporaryProject, ...path: string[]): string => join(home, ...path)
const inState = (project: TemporaryProject, ...path: string[]): string =>
  inHome(project, '.local/state/heimdall', ...path)

function change(path: string, by: (text: string) => string): void {
  const before = readFileSync(path, 'utf8')
  const after = by(before)
  if (after === before) throw new Error(`nothing was changed in ${path}`)
  writeFileSync(path, after)
}

/** A folder of the user that others may look into. */
const opened =
  (path: (project: TemporaryProject) => string, mode: number) =>
  (project: TemporaryProject): void =>
    chmodSync(path(project), mode)

const isFile = (path: string) => (project: TemporaryProject) => {
  put(inHome(project, path), 'a file where a folder belongs')
}

/** Words of a module that cannot be loaded, and a Node.js that is too old. */
const BREAKS_NODE = `const Module = require('node:module'); const load = Module._load
Module._load = (name, ...rest) => { if (/node-pty|fs-native-extensions|photostructure/.test(name)) throw new Error('broken on purpose'); return load(name, ...rest) }
const open = process.dlopen
process.dlopen = (module, path, ...rest) => { if (/photostructure/.test(path)) throw new Error('broken on purpose'); return open(module, path, ...rest) }
Object.defineProperty(process.versions, 'node', { value: '18.0.0' })`
const missing = (name: string): Broken => ({
  breaks: (project) => put(inHome(project, 'break.cjs'), BREAKS_NODE),
  state: 'fail',
  found: new RegExp(name),
  fix: /npm install/,
})

/** Where each host keeps its hooks. */
const HOOK_FILES: Readonly<Record<HookHost, string>> = {
  claude: '.claude/settings.json',
  codex: '.codex/hooks.json',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/hooks.json',
}

const forHosts = (rowOf: (host: HookHost) => Broken): Record<string, Broken> =>
  Object.fromEntries(HOOK_HOSTS.map((host) => [`${host} hooks`, rowOf(host)]))

/** Every host is installed and set up. */
async function withHosts(project: TemporaryProject): Promise<void> {
  for (const host of HOOK_HOSTS) put(inHome(project, HOOK_FILES[host]), '{}\n')
  const { code, stdout, stderr } = await project.run('heimdall', ['init', ...HOOK_HOSTS, '--yes'])
  expect({ code, said: stdout + stderr }).toMatchObject({ code: 0 })
}

const WRECKS: readonly Wreck[] = [
  {
    title: 'a Node.js that is too old, native modules that do not load, no repository',
    git: false,
    env: (project) => ({ NODE_OPTIONS: `--require=${inHome(project, 'break.cjs')}` }),
    rows: {
      node: { ...missing('Node.js'), fix: /^install a supported version/ },
      pty: missing('node-pty does not load: broken on purpose'),
      'file locks': missing('fs-native-extensions does not load: broken on purpose'),
      sqlite: missing('@photostructure/sqlite does not load: broken on purpose'),
      project: { breaks: () => undefined, state: 'warn', found: /not in a git repository/, fix: /^git init$/ },
    },
  },
  {
    title: 'files in the place of folders, settings that nobody can read',
    rows: {
      configuration: {
        breaks: (project) => project.write('heimdall.toml', 'nonsense = ['),
        state: 'fail',
        found: /heimdall\.toml:1:12: /,
        fix: /^correct the file/,
      },
      'state folder': { breaks: isFile('.local/state'), state: 'fail', found: /not writable/, fix: /ls -ld/ },
      'config folder': { breaks: isFile('.config'), state: 'fail', found: /not writable/, fix: /ls -ld/ },
    },
  },
  {
    title: 'what is ours is open to others, and what is on disk is not what was written',
    async lived(project) {
      await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'x'])
      await project.run('heimdall', ['symbol', 'set', 'API', 'src/api.ts'])
      put(inHome(project, '.claude.json'), '{ "mcpServers": { "git": { "command": "mcp-server-git" } } }')
      await project.run('heimdall', ['mcp', 'import', 'claude', '--yes'])
      mkdirSync(inHome(project, '.local/share/heimdall/sessions'), { recursive: true })
      put(inState(project, 'secrets/secrets.json'), '{}')
    },
    rows: {
      sessions: {
        breaks: opened((project) => inHome(project, '.local/share/heimdall/sessions'), 0o755),
        state: 'fail',
        found: /open to other users/,
        fix: /^chmod 700 /,
      },
      'private state': {
        breaks: opened((project) => inState(project), 0o755),
        state: 'fail',
        found: /open to other users/,
        fix: /^chmod 700 /,
      },
      'private secrets': {
        breaks: opened((project) => inState(project, 'secrets/secrets.json'), 0o644),
        state: 'fail',
        found: /secrets\.json is open/,
        fix: /^chmod 600 /,
      },
      'private keys': {
        breaks(project) {
          const keys = project.path('.git/heimdall/keys')
          const first = readdirSync(keys).find((name) => name.endsWith('.key'))
          chmodSync(join(keys, first ?? ''), 0o644)
        },
        state: 'fail',
        found: /^1 keys of agents are open/,
        fix: /^chmod 600 /,
      },
      runs: {
        breaks(project) {
          mkdirSync(inState(project, 'runs/r9/events.jsonl'), { recursive: true })
          put(inState(project, 'runs/.open/r9'), '')
        },
        state: 'warn',
        found: /run r9 cannot be read/,
        fix: /owner of the state folder/,
      },
      watcher: {
        breaks(project) {
          const own = { pid: process.pid, startTicks: readStat(process.pid)?.startTicks, boot: bootId() }
          const aside = [{ run: 'r8', error: 'broken on purpose' }]
          const file = { process: own, version: '0.1.0', started_at: '2026-11-01T00:00:00Z', aside }
          put(`${watcherPath(inState(project, 'watcher'))}.json`, JSON.stringify(file))
        },
        state: 'warn',
        found: /set aside: run r8 \(broken on purpose\)/,
        fix: /tries again/,
      },
      'run index': {
        breaks: (project) => put(inState(project, 'runs.db'), 'no database'.repeat(1_000)),
        state: 'warn',
        found: /runs\.db cannot be used/,
        fix: /^heimdall runs reindex$/,
      },
      coordination: {
        breaks: (project) => {
          // Its log would mend what is written over here.
          rmSync(project.path('.git/heimdall/coordination.db-wal'), { force: true })
          project.write('.git/heimdall/coordination.db', 'no database'.repeat(1_000))
        },
        state: 'fail',
        found: /^corrupt: .*coordination\.db/,
        fix: /./,
      },
      briefing: {
        breaks: (project) => project.write('.planning/protocol/symbols.json', '{"version":'),
        state: 'fail',
        found: /^corrupt: .*symbols\.json/,
        fix: /./,
      },
      imports: {
        breaks(project) {
          const record = readdirSync(inState(project, 'imports')).find((name) => name.endsWith('.json'))
          change(inState(project, 'imports', record ?? ''), (text) =>
            text.replace(/"launcher":"[^"]*"/, '"launcher":"/gone/bin/heimdall"'),
          )
        },
        state: 'fail',
        found: /starts its MCP servers with \/gone\/bin\/heimdall, which does not exist/,
        fix: /^heimdall mcp import claude$/,
      },
    },
  },
  {
    title: 'hosts without hooks, and what passes nobody',
    rows: {
      ...forHosts((host) => ({
        breaks: (project) => put(inHome(project, HOOK_FILES[host]), '{}\n'),
        state: 'warn',
        found: /has no Heimdall hooks/,
        fix: new RegExp(`^heimdall init ${host}$`),
      })),
      'git guard': { breaks: () => undefined, state: 'warn', found: /not guarded/, fix: /^heimdall guard install$/ },
      'ledger servers': {
        breaks: () => undefined,
        state: 'warn',
        found: /the ledger server is not set up in Claude Code/,
        fix: /^heimdall init claude codex cursor gemini$/,
      },
      'unseen servers': {
        breaks: (project) =>
          put(inHome(project, '.cursor/mcp.json'), '{ "mcpServers": { "git": { "command": "x" } } }'),
        state: 'warn',
        found: /calls to x \(Claude Code\), git \(Cursor\) bypass the shim/,
        fix: /^heimdall mcp import cursor && heimdall mcp import claude --shared$/,
      },
      'project files': {
        breaks: (project) => project.write('.mcp.json', '{ "mcpServers": { "x": { "command": "evil" } } }'),
        state: 'warn',
        found: /\.mcp\.json in this project/,
        fix: /^read them/,
      },
      'codex server': {
        async breaks(project) {
          project.write('app-server', 'echo up; read -r line\n')
          // The words that Codex 0.166.0 starts it with.
          const words = ['app-server', '--listen', 'unix://', '--analytics-default-enabled', '--managed-daemon']
          const server = startProgram(['bash', '-c', 'exec -a codex bash "$@"', 'bash', ...words], {
            cwd: project.root,
            env: project.env,
          })
          await server.waitForLine('up')
        },
        state: 'warn',
        found: /so they count as one agent/,
        fix: /--no-daemon/,
      },
    },
  },
  {
    title: 'hosts whose files nobody can read',
    lived: withHosts,
    rows: forHosts((host) => ({
      breaks: (project) => change(inHome(project, HOOK_FILES[host]), (text) => text.slice(0, text.length / 2)),
      state: 'fail',
      found: new RegExp(HOOK_FILES[host].replaceAll('.', '\\.')),
      fix: new RegExp(`^correct the file, then run: heimdall init ${host}$`),
    })),
  },
  {
    title: 'hosts with lines of another version, and a guard without its program',
    lived: withHosts,
    rows: {
      ...forHosts((host) => ({
        breaks: (project) =>
          change(inHome(project, HOOK_FILES[host]), (text) =>
            text.replace(/[^ "]*\/bin\/heimdall hook/, '/old/heimdall hook'),
          ),
        state: 'fail',
        found: /are incomplete or of another version/,
        fix: new RegExp(`^heimdall init ${host}$`),
      })),
      'git guard': {
        breaks: (project) => rmSync(project.path('.git/hooks/post-commit')),
        state: 'fail',
        found: /^only 3 of 4 git hooks/,
        fix: /^heimdall guard install$/,
      },
    },
  },
  {
    title: 'hooks that a file of the project switches off, and one by its name',
    lived: withHosts,
    rows: {
      'claude hooks': {
        breaks: (project) => project.write('.claude/settings.local.json', '{ "disableAllHooks": true }'),
        state: 'fail',
        found: /disableAllHooks is true in .*project\/\.claude\/settings\.local\.json/,
        fix: /^remove disableAllHooks from /,
      },
      'codex hooks': {
        breaks: (project) => project.write('.codex/config.toml', 'features = { hooks = false }\n'),
        state: 'fail',
        found: /features\.hooks is false in .*project\/\.codex\/config\.toml/,
        fix: /^remove features\.hooks from /,
      },
      'gemini hooks': {
        breaks: (project) => project.write('.gemini/settings.json', '{ "hooksConfig": { "disabled": ["heimdall"] } }'),
        state: 'fail',
        found: /hooksConfig\.disabled is \["heimdall"\] in .*project\/\.gemini\/settings\.json/,
        fix: /^remove hooksConfig\.disabled from /,
      },
    },
  },
  {
    title: 'hosts with lines of an installation that nobody here has on record',
    lived: withHosts,
    rows: forHosts((host) => ({
      breaks(project) {
        rmSync(inState(project, 'init'), { recursive: true, force: true })
        change(inHome(project, HOOK_FILES[host]), (text) =>
          text.replaceAll(/[^ "]*\/bin\/heimdall hook/g, "'/old place/bin/heimdall' hook"),
        )
      },
      state: 'fail',
      found: /are incomplete or of another version/,
      fix: new RegExp(`^heimdall init ${host}$`),
    })),
  },
  {
    title: 'hosts whose hooks start a program that is gone',
    lived: withHosts,
    rows: forHosts((host) => ({
      breaks(project) {
        const folder = inState(project, 'init')
        const file = readdirSync(folder)
          .map((name) => join(folder, name))
          .find((path) => readFileSync(path, 'utf8').includes(`"path":"${inHome(project, HOOK_FILES[host])}"`))
        change(file ?? '', (text) => text.replace(/"launcher":"[^"]*"/, '"launcher":"/gone/bin/heimdall"'))
      },
      state: 'fail',
      found: /runs hooks with \/gone\/bin\/heimdall, which does not exist/,
      fix: new RegExp(`^heimdall init ${host}$`),
    })),
  },
  {
    title: 'hooks in place that no host has called, and that let through what they cannot check',
    lived: withHosts,
    rows: {
      ...forHosts((host) => ({
        breaks: () => undefined,
        state: 'warn',
        found: /were never called/,
        fix: host === 'codex' ? /trust the hooks/ : new RegExp(`^start ${host}(-agent)? here$`),
      })),
      'strict hooks': {
        breaks: () => undefined,
        state: 'warn',
        found: /cannot check/,
        fix: /^heimdall init --strict$/,
      },
    },
  },
  {
    title: 'hooks that are switched off, and a session that goes past its own',
    lived: withHosts,
    rows: {
      'codex hooks': {
        breaks: (project) =>
          change(inHome(project, '.codex/config.toml'), (text) => `${text}\n[features]\nhooks = false\n`),
        state: 'fail',
        found: /features\.hooks is false/,
        fix: /^remove features\.hooks from/,
      },
      'gemini hooks': {
        breaks: (project) =>
          change(inHome(project, HOOK_FILES.gemini), (text) =>
            text.replace('{', '{ "hooksConfig": { "enabled": false },'),
          ),
        state: 'fail',
        found: /hooksConfig\.enabled is false/,
        fix: /^remove hooksConfig\.enabled from/,
      },
      'host sessions': {
        async breaks(project) {
          const host = playHost(project)
          await host.hook('SessionStart')
          const call = { type: 'tool_use', id: 'x', name: 'Edit' }
          const line = JSON.stringify({ type: 'assistant', message: { content: [call] } })
          await host.hook('Stop', { transcript_path: project.write('../t.jsonl', `${line}\n`) })
        },
        state: 'fail',
        found: /^1 of 1 active host sessions are not guarded/,
        fix: /: heimdall hosts$/,
      },
      'claude hooks': {
        breaks: () => undefined,
        state: 'fail',
        found: /^last called/,
        fix: /then run: heimdall init claude$/,
      },
    },
  },
]

test.each(WRECKS)('$title', async ({ git, env, lived, rows: broken }) => {
  const project = temporaryProject(git === undefined ? {} : { git })
  await lived?.(project)
  for (const { breaks } of Object.values(broken)) await breaks(project)
  const { code, rows } = await doctor(project, env?.(project))
  for (const [check, { state, found, fix }] of Object.entries(broken))
    expect(rows.get(check)).toEqual({
      check,
      state,
      found: expect.stringMatching(found) as string,
      fix: expect.stringMatching(fix) as string,
    })
  expect(code).toBe([...rows.values()].some(({ state }) => state === 'fail') ? 1 : 0)
})

test('where nothing is broken every row says so, and each has been broken above', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['guard', 'install'])
  const { code, rows } = await doctor(project)
  expect([...rows.values()].filter(({ state }) => state !== 'ok')).toEqual([])
  expect(code).toBe(0)
  expect([...rows.keys()].toSorted()).toEqual([...new Set(WRECKS.flatMap(({ rows: r }) => Object.keys(r)))].toSorted())
})
