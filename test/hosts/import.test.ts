// `heimdall mcp import` and `restore` on configurations of five hosts: what changes, what does not, and the way back.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  mkdirSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  fixtureText,
  HOST_FILES,
  type Host,
  hostHome,
  HOSTS,
  parsed,
  type Server,
  serversIn,
} from '../support/host-configs.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import type { Json } from '../support/shim-client.ts'

const LAUNCHER = resolve('bin/heimdall')

const isRemote = (server: Server): boolean => server.command === undefined

/** Variables that Codex is told to hand on are not the server's own. */
function passed(host: Host, { env = {}, env_vars: listed = [] }: Server, isOfFile: boolean): string {
  return isOfFile ? '*' : [...Object.keys(env), ...(host === 'codex' ? listed : [])].join(',')
}

describe.each(HOSTS)('%s', (host) => {
  test('IMP-001: programs go behind the shim under their names, remote servers stay, and restore gives every byte back', async () => {
    const home = hostHome()
    const path = home.put(host)
    const before = home.textOf(host)
    chmodSync(path, 0o640)
    const { code, stdout, stderr } = await home.heimdall('mcp', 'import', host, '--yes')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const [was, now] = [serversIn(host, before), serversIn(host, home.textOf(host))]
    expect(Object.keys(now)).toEqual(Object.keys(was))
    for (const [name, server] of Object.entries(was)) {
      const { command, args = [] } = server
      if (isRemote(server) || command === undefined) {
        expect(now[name]).toEqual(server)
        expect(stdout).toMatch(new RegExp(`left +${name}: it is remote`))
        continue
      }
      const isOfFile = Object.hasOwn(server, 'envFile')
      const flags = [`--server-name=${name}`, `--pass-env=${passed(host, server, isOfFile)}`]
      const { env_vars: listed, ...rest } = now[name] ?? {}
      const { env_vars: listedBefore = [], ...untouched } = server
      expect(rest).toEqual({
        ...untouched,
        command: process.execPath,
        args: [LAUNCHER, 'mcp', 'shim', ...flags, '--', command, ...args],
      })
      // Codex hands its servers a list of variables, and the shim needs those of the run.
      if (host === 'codex')
        expect(listed).toEqual(expect.arrayContaining(['SUB_RUN_ID', 'HEIMDALL_SECRET', ...listedBefore]))
    }
    const again = await home.heimdall('mcp', 'import', host, '--yes')
    expect(again.stdout).toContain('nothing had to be changed')
    const restored = await home.heimdall('mcp', 'restore', host, '--yes')
    expect(restored.code).toBe(0)
    expect(home.textOf(host)).toBe(before)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readdirSync(join(home.home, '.local/state/heimdall/imports'))).toEqual([])
    const twice = await home.heimdall('mcp', 'restore', host, '--yes')
    expect(twice).toMatchObject({ code: 0, stdout: expect.stringContaining('No server of') })
  })
})

test('IMP-001: after a second edit an import refreshes what restore gives back', async () => {
  const home = hostHome()
  home.put('claude')
  await home.heimdall('mcp', 'import', 'claude', '--yes')
  const edited = home.textOf('claude').replace('"bare": {', '"added": { "command": "new-one" },\n    "bare": {')
  home.put('claude', edited)
  const { stdout } = await home.run('sub', ['import', 'claude'])
  expect(stdout).toMatch(/wrap +added/)
  await home.run('sub', ['restore', 'claude'])
  const wanted = fixtureText('claude.json').replace('"bare": {', '"added": { "command": "new-one" },\n    "bare": {')
  expect(home.textOf('claude')).toBe(wanted)
})

test.each(HOSTS)(
  '%s: --dry-run writes nothing, and what it shows is the difference that another program can apply',
  async (host) => {
    const home = hostHome()
    const path = home.put(host)
    const before = home.textOf(host)
    const { stdout, code } = await home.heimdall('mcp', 'import', host, '--dry-run', '--json')
    expect(code).toBe(0)
    expect(home.textOf(host)).toBe(before)
    expect(existsSync(join(home.home, '.local/state/heimdall/imports'))).toBe(false)
    const { files, dry_run: isDry } = (JSON.parse(stdout) as Json)['data'] as Json
    expect(isDry).toBe(true)
    const diff = (files[0].diff as string)
      .replace(/^--- .*\n\+\+\+ .*\n/, '--- a/config\n+++ b/config\n')
      // The one value that stands in a changed line and has nothing to do with the change.
      .replaceAll('"…"', '"build/**/*.js"')
    writeFileSync(home.path('config'), before)
    writeFileSync(home.path('patch'), `${diff}\n`)
    execFileSync('git', ['apply', '--unidiff-zero', 'patch'], { cwd: home.root })
    await home.heimdall('mcp', 'import', host, '--yes')
    expect(home.read('config')).toBe(readFileSync(path, 'utf8'))
  },
)

test('without --yes a terminal is asked once, and anybody else is refused', async () => {
  const home = hostHome()
  home.put('gemini')
  const before = home.textOf('gemini')
  const refused = await home.heimdall('mcp', 'import', 'gemini')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(home.textOf('gemini')).toBe(before)
  const start = { cwd: home.root, env: home.env }
  const doubtful = ownTerminal([...launcher('heimdall'), 'mcp', 'import', 'gemini'], start)
  await doubtful.see('Change this file? [y/N]')
  doubtful.type('\r')
  expect(await doubtful.ended).toBe(1)
  expect(home.textOf('gemini')).toBe(before)
  const sure = ownTerminal([...launcher('heimdall'), 'mcp', 'import', 'gemini'], start)
  await sure.see('Change this file? [y/N]')
  sure.type('y\r')
  expect(await sure.ended).toBe(0)
  expect(home.textOf('gemini')).not.toBe(before)
})

test('the project’s own files are named and left, unless they are asked for', async () => {
  const home = hostHome()
  home.put('claude')
  const shared = fixtureText('claude-project.json')
  const path = home.write('.mcp.json', shared)
  const { stdout } = await home.heimdall('mcp', 'import', 'claude', '--yes')
  expect(stdout).toContain(`${path}: left, with team-docs`)
  expect(home.read('.mcp.json')).toBe(shared)
  const asked = await home.heimdall('mcp', 'import', 'claude', '--shared', '--yes')
  expect(asked.stdout).toContain('paths of this machine')
  expect(serversIn('claude', home.read('.mcp.json'))['team-docs']?.args?.slice(-3)).toEqual([
    'npx',
    '-y',
    'docs-mcp@2.1.0',
  ])
  // On record, so that it comes out wherever restore is called from.
  await home.heimdall('mcp', 'restore', 'claude', '--yes')
  expect(home.read('.mcp.json')).toBe(shared)
  expect(home.textOf('claude')).toBe(fixtureText('claude.json'))
})

test('byte order mark, CRLF, no last newline, a link and the mode of its file stay', async () => {
  const home = hostHome()
  const text = `\uFEFF${fixtureText('vscode.json').replaceAll('\n', '\r\n').trimEnd()}`
  const real = join(home.home, 'dotfiles/mcp.json')
  mkdirSync(join(home.home, 'dotfiles'))
  mkdirSync(join(home.home, '.config/Code/User'), { recursive: true })
  writeFileSync(real, text, { mode: 0o600 })
  symlinkSync('../../../dotfiles/mcp.json', home.file('vscode'))
  await home.heimdall('mcp', 'import', 'vscode', '--yes')
  const wrapped = readFileSync(real, 'utf8')
  expect(wrapped).toContain('--server-name=memory')
  expect(wrapped.startsWith('\uFEFF{\r\n')).toBe(true)
  expect(wrapped.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  expect(lstatSync(home.file('vscode')).isSymbolicLink()).toBe(true)
  await home.heimdall('mcp', 'restore', 'vscode', '--yes')
  expect(readFileSync(real, 'utf8')).toBe(text)
  expect(statSync(real).mode & 0o777).toBe(0o600)
})

test('the record is the user’s alone', async () => {
  const home = hostHome()
  home.put('cursor')
  await home.heimdall('mcp', 'import', 'cursor', '--yes')
  const folder = join(home.home, '.local/state/heimdall/imports')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
})

test('variables move the files as they do for the hosts, and one of the origin names another', async () => {
  const home = hostHome()
  const server = '{"mcpServers":{"a":{"command":"b"}}}'
  const toml = '[mcp_servers.a]\ncommand = "b"\n'
  const moved = { CLAUDE_CONFIG_DIR: home.path('c'), CODEX_HOME: home.path('x'), GEMINI_CLI_HOME: home.path('g') }
  const files = {
    claude: home.write('c/.claude.json', server),
    codex: home.write('x/config.toml', toml),
    gemini: home.write('g/.gemini/settings.json', server),
  }
  const done = await home.run('heimdall', ['mcp', 'import', ...Object.keys(files), '--yes'], { env: moved })
  expect(done.code).toBe(0)
  for (const path of Object.values(files)) expect(readFileSync(path, 'utf8')).toContain('--server-name=a')
  const named = home.write('elsewhere.json', server)
  await home.run('sub', ['import', 'claude'], { env: { ...moved, SUBLUMINAL_CLAUDE_CONFIG: 'elsewhere.json' } })
  expect(parsed('claude', readFileSync(named, 'utf8'))).toMatchObject({
    mcpServers: { a: { command: process.execPath } },
  })
  await home.run('sub', ['restore', 'claude'], { env: { ...moved, SUBLUMINAL_CLAUDE_CONFIG: 'elsewhere.json' } })
  expect(readFileSync(named, 'utf8')).toBe(server)
  expect(readFileSync(files.claude, 'utf8')).toContain('--server-name=a')
})

test('two hosts on one file are one import, and there is one way out of it', async () => {
  const home = hostHome()
  const text = '{ "mcpServers": { "a": { "command": "b" } }, "servers": { "v": { "command": "w", "args": ["x"] } } }\n'
  const path = home.write('both.json', text)
  const env = { SUBLUMINAL_CURSOR_CONFIG: path, SUBLUMINAL_GEMINI_CONFIG: path, SUBLUMINAL_VSCODE_CONFIG: path }
  const run = (...args: string[]): ReturnType<typeof home.run> => home.run('heimdall', [...args, '--yes'], { env })
  await run('mcp', 'import', 'cursor')
  const wrapped = readFileSync(path, 'utf8')
  expect((await run('mcp', 'import', 'gemini')).stdout).toMatch(/behind +a/)
  expect(readFileSync(path, 'utf8')).toBe(wrapped)
  await run('mcp', 'import', 'vscode')
  const { stdout } = await run('mcp', 'restore', 'cursor')
  expect(stdout).toContain('is also used by Gemini CLI, VS Code')
  // What VS Code reads stands under another key, and stays.
  expect(parsed('vscode', readFileSync(path, 'utf8'))).toMatchObject({
    mcpServers: { a: { command: 'b' } },
    servers: { v: { command: process.execPath } },
  })
  await run('mcp', 'restore', 'vscode')
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a host without a file, a host that is none', async () => {
  const home = hostHome()
  const absent = await home.heimdall('mcp', 'import', 'codex', '--yes')
  expect(absent).toMatchObject({ code: 3, stderr: expect.stringContaining(HOST_FILES.codex.at) })
  const unknown = await home.heimdall('mcp', 'import', 'claud', '--yes')
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean claude?') })
})
