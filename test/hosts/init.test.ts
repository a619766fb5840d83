// `heimdall init` and `heimdall uninstall` on homes of five hosts: every byte comes back, and whatever else stands in the files stays.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { type HostHome, hostHome, HOSTS } from '../support/host-configs.ts'

/** Every file below the home but our own state, by its path. */
function homeOf({ home }: HostHome): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (path === join(home, '.local')) continue
      if (entry.isDirectory()) walk(path)
      else found.set(path, `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`)
    }
  }
  walk(home)
  return found
}

/** JSON with comments, by a parser that is not ours. */
const jsonc = (path: string): Record<string, unknown> =>
  ts.parseConfigFileTextToJson(path, readFileSync(path, 'utf8')).config as Record<string, unknown>

function put(home: HostHome, path: string, text: string): string {
  const full = join(home.home, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

const OTHERS = `{
\t// mine, not to be touched
\t"theme": "dark",
\t"apiKeyHelper": "secret-\u{1f511}",
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "my-own-hook" } ] }, // keep
\t\t],
\t\t"Unheard": []
\t},
}
`

test('five hosts: in, twice, and out again byte for byte', async () => {
  const home = hostHome()
  for (const host of HOSTS) home.put(host)
  const settings = put(home, '.claude/settings.json', OTHERS.replaceAll('\n', '\r\n'))
  const hooks = put(home, '.codex/hooks.json', '{ "note": "secret-too" }')
  const before = homeOf(home)
  const dry = await home.heimdall('init', '--dry-run')
  expect(dry.code).toBe(0)
  for (const path of [settings, hooks, home.file('codex')]) expect(dry.stdout).toContain(`+++ ${path}`)
  expect(dry.stdout).not.toContain('secret-')
  expect(homeOf(home)).toEqual(before)
  expect((await home.heimdall('init')).stderr).toContain('this command cannot ask')
  expect(homeOf(home)).toEqual(before)

  expect((await home.heimdall('init', '--yes')).code).toBe(0)
  const claude = jsonc(settings) as { hooks: Record<string, { matcher?: string; hooks: { command: string }[] }[]> }
  expect(claude.hooks['PreToolUse']?.map((group) => group.hooks[0]?.command)).toEqual([
    'my-own-hook',
    expect.stringMatching(/\/bin\/heimdall hook claude$/),
  ])
  expect(claude).toMatchObject({ theme: 'dark', hooks: { Unheard: [], SessionEnd: [{}] } })
  const codex = parseToml(home.textOf('codex')) as {
    mcp_servers: Record<string, { env_vars: string[]; args: string[] }>
  }
  expect(codex.mcp_servers['heimdall-ledger']?.args[0]).toMatch(/heimdall-ledger-mcp$/)
  expect(codex.mcp_servers['heimdall-ledger']?.env_vars).toContain('HEIMDALL_SECRET')
  for (const host of ['claude', 'cursor', 'gemini'] as const)
    expect(jsonc(home.file(host))).toHaveProperty(['mcpServers', 'heimdall-ledger', 'args', 0])
  expect(jsonc(home.file('vscode'))).toHaveProperty(['servers', 'heimdall-ledger'])
  expect(jsonc(join(home.home, '.cursor/hooks.json'))).toMatchObject({ version: 1, hooks: { preToolUse: [{}] } })
  expect(existsSync(home.path('.git/hooks/pre-commit'))).toBe(true)

  const between = homeOf(home)
  const again = await home.heimdall('init', '--yes')
  expect(again.stdout).toContain('Nothing to change.')
  expect(homeOf(home)).toEqual(between)

  // Stricter: its own lines are replaced, and stay the only ones.
  expect((await home.heimdall('init', 'claude', '--yes', '--strict')).code).toBe(0)
  expect(readFileSync(settings, 'utf8').match(/hook claude/g)?.length).toBe(
    readFileSync(settings, 'utf8').match(/hook claude --strict/g)?.length,
  )

  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  expect(homeOf(home)).toEqual(before)
  expect(existsSync(home.path('.git/hooks/pre-commit'))).toBe(false)
  expect((await home.heimdall('uninstall', '--yes')).stdout).toContain('Nothing to remove.')
})

test('folders that were not there before go too, unless somebody else has put something into them', async () => {
  const home = hostHome()
  const folders = (): string[] => readdirSync(home.home).filter((name) => name !== '.local')
  const hosts = ['claude', 'codex', 'gemini'] as const
  expect(folders()).toEqual([])
  for (const times of [1, 2]) expect([times, (await home.heimdall('init', ...hosts, '--yes')).code]).toEqual([times, 0])
  expect(folders()).toEqual(expect.arrayContaining(['.claude', '.codex', '.gemini']))
  put(home, '.gemini/mine', 'mine')
  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  expect(folders()).toEqual(['.gemini'])
  expect(readdirSync(join(home.home, '.gemini'))).toEqual(['mine'])
})

test('what others change in between stays, and so does what they had before', async () => {
  const home = hostHome()
  const settings = put(home, '.claude/settings.json', OTHERS)
  put(home, '.gemini/settings.json', '')
  const own = home.write('.git/hooks/pre-push', '#!/bin/sh\n# mine\n')
  await home.heimdall('init', 'claude', 'gemini', '--yes')
  expect(readFileSync(own, 'utf8')).not.toContain('# mine')
  expect(jsonc(join(home.home, '.gemini/settings.json'))).toHaveProperty(['hooks', 'BeforeTool', 0])
  const text = readFileSync(settings, 'utf8')
  writeFileSync(settings, text.replace('"dark"', '"light"'))
  // A host may write its file anew in its own formatting.
  const gemini = join(home.home, '.gemini/settings.json')
  const { hooks, ...rest } = jsonc(gemini) as { hooks: { BeforeTool: [{ matcher: string; hooks: object[] }] } }
  const [group] = hooks.BeforeTool
  // Somebody runs a second command for what our hook is asked about.
  const foreign = { type: 'command', command: 'foreign' }
  const both = { ...hooks, BeforeTool: [{ ...group, hooks: [...group.hooks, foreign] }] }
  writeFileSync(gemini, JSON.stringify({ ...rest, hooks: both, ui: { theme: 'x' } }))
  rmSync(join(home.home, '.local/state/heimdall/init'), { recursive: true })
  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  const after = readFileSync(settings, 'utf8')
  expect(after).not.toContain('heimdall')
  expect(after).toContain('// mine, not to be touched')
  expect(jsonc(settings)).toMatchObject({ theme: 'light', hooks: { PreToolUse: [{ matcher: 'Bash' }], Unheard: [] } })
  expect(jsonc(gemini)).toMatchObject({ ui: { theme: 'x' }, hooks: { BeforeTool: [{ hooks: [foreign] }] } })
  expect(readFileSync(gemini, 'utf8')).not.toContain('heimdall')
  // The guard is known by its own lines too, and what was set aside for it is back.
  expect(existsSync(home.path('.git/hooks/pre-commit'))).toBe(false)
  expect(readFileSync(own, 'utf8')).toContain('# mine')
})

test('a server of somebody else under the name of ours stays theirs, and its host is left alone', async () => {
  const home = hostHome()
  const own = '{"mcpServers":{"heimdall-ledger":{"command":"mine","env":{"K":"v"}},"z":{"command":"q"}}}\n'
  const claude = put(home, '.claude.json', own)
  const table = '[mcp_servers.heimdall-ledger]\ncommand = "mine"\n'
  const codex = put(home, '.codex/config.toml', table)
  const { stdout, stderr } = await home.heimdall('init', 'claude', 'codex', '--yes', '--no-guard')
  expect(stdout + stderr).toContain('has another server called heimdall-ledger')
  await home.heimdall('uninstall', '--yes')
  expect([readFileSync(claude, 'utf8'), readFileSync(codex, 'utf8')]).toEqual([own, table])
})

test('a host of which one file cannot be used is left alone as a whole, the others are not', async () => {
  const home = hostHome()
  home.put('codex')
  home.put('gemini')
  put(home, '.codex/hooks.json', '{ "hooks": { "PreToolUse": "mine" } }')
  const before = home.textOf('codex')
  const { code, stdout } = await home.heimdall('init', 'codex', 'gemini', '--yes', '--no-guard', '--json')
  expect(code).toBe(1)
  const { data } = JSON.parse(stdout) as { data: { failed: { host: string; message: string }[] } }
  expect(data.failed).toMatchObject([{ host: 'codex', message: 'hooks.PreToolUse is not a list' }])
  expect(home.textOf('codex')).toBe(before)
  expect(home.textOf('gemini')).toContain('hook gemini')
  put(home, '.codex/hooks.json', '{ "hooks": ')
  expect((await home.heimdall('init', 'codex', '--yes')).code).toBe(1)
  expect(home.textOf('codex')).toBe(before)
})
