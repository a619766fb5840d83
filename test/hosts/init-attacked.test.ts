// `heimdall init` on homes as they are found, killed in the middle and started twice: whatever happened, `uninstall` leaves what was there before.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { expect, test } from 'vitest'
import { type HostHome, hostHome, HOSTS } from '../support/host-configs.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { scaled } from '../support/scale.ts'

/** Every file and link below the home and of git's hooks, but for our own state. */
function contentOf({ home, root }: HostHome): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (folder: string): void => {
    for (const { name } of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, name)
      const stats = lstatSync(path)
      if (path === join(home, '.local')) continue
      if (stats.isDirectory()) walk(path)
      else
        found[path] = stats.isSymbolicLink()
          ? `-> ${readlinkSync(path)}`
          : `${(stats.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`
    }
  }
  walk(home)
  walk(join(root, '.git/hooks'))
  return found
}

const put = ({ home }: HostHome, path: string, text: string): string => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
  return join(home, path)
}

const start = ({ root, env }: HostHome, ...args: string[]): Program =>
  startProgram([...launcher('heimdall'), ...args], { cwd: root, env })

/** Ended hard when so many changes have been heard of in the home and in git's hooks, whatever it is doing by then. */
async function killedAtChange(program: Program, { home, root }: HostHome, nth: number): Promise<void> {
  let left = nth
  const changed = (): void => void ((left -= 1) < 0 && program.kill('SIGKILL'))
  const watchers = [home, join(root, '.git/hooks')].map((folder) => watch(folder, { recursive: true }, changed))
  await program.ended
  for (const watcher of watchers) watcher.close()
}

test('killed at any moment, it can be done again and be taken out whole', async () => {
  for (let round = 0; round < scaled(4, 60); round += 1) {
    const home = hostHome()
    for (const host of HOSTS) home.put(host)
    put(home, '.claude/settings.json', '{ /* mine */ "hooks": { "Stop": [] } }')
    home.write('.git/hooks/pre-commit', '#!/bin/sh\n# mine\n')
    const before = contentOf(home)
    const program = start(home, 'init', '--yes')
    await killedAtChange(program, home, round * 3)
    if (round % 2 === 0) expect((await home.heimdall('init', '--yes')).code).toBe(0)
    const { code, stderr } = await home.heimdall('uninstall', '--yes')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(contentOf(home)).toEqual(before)
  }
})

test('two at once: one of each line, and all of it comes out', async () => {
  const home = hostHome()
  for (const host of HOSTS) home.put(host)
  const before = contentOf(home)
  const both = [start(home, 'init', '--yes'), start(home, 'init', '--yes')]
  await Promise.all(both.map((program) => program.ended))
  expect((await home.heimdall('init', '--yes')).stdout).toContain('Nothing to change.')
  const hooks = JSON.parse(readFileSync(join(home.home, '.cursor/hooks.json'), 'utf8')) as { hooks: object }
  for (const list of Object.values(hooks.hooks)) expect(list).toHaveLength(1)
  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  expect(contentOf(home)).toEqual(before)
})

test('links, modes and files that nobody may write stay what they are', async () => {
  const home = hostHome()
  const real = put(home, 'dotfiles/claude.json', '{\n  // mine\n  "theme": "dark"\n}\n')
  mkdirSync(join(home.home, '.claude'), { recursive: true })
  symlinkSync('../dotfiles/claude.json', join(home.home, '.claude/settings.json'))
  chmodSync(real, 0o440)
  const codex = put(home, '.codex/hooks.json', '{}')
  symlinkSync('/nowhere/at/all', join(home.home, '.codex/config.toml'))
  const before = contentOf(home)
  await home.heimdall('init', 'claude', 'codex', '--yes', '--no-guard')
  expect(readFileSync(codex, 'utf8')).toBe('{}')
  expect(lstatSync(join(home.home, '.claude/settings.json')).isSymbolicLink()).toBe(true)
  await home.heimdall('uninstall', '--yes')
  expect(contentOf(home)).toEqual(before)
})

test('something else in the place of one host’s file stops neither the others nor the way out', async () => {
  const home = hostHome()
  const path = join(home.home, '.claude/settings.json')
  mkdirSync(dirname(path), { recursive: true })
  put(home, '.gemini/settings.json', '{}\n')
  const before = contentOf(home)
  const places: [string, () => void, string][] = [
    ['a link to itself', () => symlinkSync('settings.json', path), 'ELOOP'],
    ['a link to nothing', () => symlinkSync('nothing.json', path), 'is a symbolic link'],
    ['a folder', () => mkdirSync(path), 'is a folder'],
  ]
  for (const [name, make, words] of places) {
    make()
    const { code, stdout } = await home.heimdall('init', 'claude', 'gemini', '--yes', '--no-guard')
    expect({ name, code }).toEqual({ name, code: 1 })
    expect(stdout).toContain('Claude Code is not changed')
    expect(stdout).toContain(words)
    expect(readFileSync(join(home.home, '.gemini/settings.json'), 'utf8')).toContain('hook gemini')
    expect(await home.heimdall('uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' })
    rmSync(path, { recursive: true })
    expect(contentOf(home)).toEqual(before)
  }
})

test.runIf(process.platform === 'linux')(
  'a folder that nobody may write to: the host is named with the reason',
  async () => {
    const home = hostHome()
    put(home, '.gemini/settings.json', '{}\n')
    // Not even root makes a file there.
    symlinkSync('/sys/kernel', join(home.home, '.codex'))
    const { code, stdout } = await home.heimdall('init', 'codex', 'gemini', '--yes', '--no-guard')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Codex is not changed: .*\/sys\/kernel/m)
    expect(stdout).not.toContain('Codex asks once')
    expect(stdout).toMatch(/^Set up Gemini CLI\./m)
    expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
    expect(readFileSync(join(home.home, '.gemini/settings.json'), 'utf8')).toBe('{}\n')
  },
)

test('a key that stands there twice is left alone: hosts read the last one only', async () => {
  const home = hostHome()
  put(home, '.claude/settings.json', '{ "hooks": {}, "hooks": { "Stop": [] } }\n')
  const before = contentOf(home)
  const { code, stdout } = await home.heimdall('init', 'claude', '--yes', '--no-guard')
  expect(code).toBe(1)
  expect(stdout).toContain('settings.json: has hooks twice')
  expect(contentOf(home)).toEqual(before)
})

test('a table of ours that somebody has changed comes out with what was put below it', async () => {
  const home = hostHome()
  const mine = 'model = "x"\n[mcp_servers.mine]\nurl = "http://localhost/mcp"\n'
  const file = put(home, '.codex/config.toml', mine)
  expect((await home.heimdall('init', 'codex', '--yes', '--no-guard')).code).toBe(0)
  const header = '[mcp_servers.heimdall-ledger]\n'
  const inside = readFileSync(file, 'utf8')
  expect(inside).toContain(header)
  writeFileSync(
    file,
    `${inside.replace(header, '[ mcp_servers."heimdall-ledger" ] # ours\nstartup_timeout_sec = 20\n')}
[mcp_servers.heimdall-ledger.env]
A = "b"

[tui]
theme = "dark"
`,
  )
  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  const left = readFileSync(file, 'utf8')
  expect(parseToml(left)).toEqual({
    model: 'x',
    mcp_servers: { mine: { url: 'http://localhost/mcp' } },
    tui: { theme: 'dark' },
  })
  expect(left.startsWith(mine)).toBe(true)
})

test('after an upgrade to another place doctor mends what was strict as strict, and says so in its commands', async () => {
  const home = hostHome()
  const file = put(home, '.claude/settings.json', '{}\n')
  const before = contentOf(home)
  expect((await home.heimdall('init', 'claude', '--strict', '--yes', '--no-guard')).code).toBe(0)
  // The version that wrote it lay elsewhere, and is gone.
  for (const path of [file, join(home.home, '.claude.json')])
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(resolve('bin'), '/opt/gone/bin'))
  const found = async (...flags: string[]): Promise<{ check: string; state: string; fix: string }[]> => {
    const { stdout } = await home.heimdall('doctor', '--json', ...flags)
    return (JSON.parse(stdout) as { data: { checks: { check: string; state: string; fix: string }[] } }).data.checks
  }
  const hooks = (await found()).find(({ check }) => check === 'claude hooks')
  expect(hooks).toMatchObject({ state: 'fail', fix: 'heimdall init claude --strict' })
  await found('--fix')
  expect(readFileSync(file, 'utf8')).toContain(`${resolve('bin/heimdall')} hook claude --strict`)
  expect(readFileSync(file, 'utf8')).not.toContain('/opt/gone')
  const ledger = (await found()).find(({ check }) => check === 'ledger servers')
  expect(ledger).toMatchObject({ state: 'warn', fix: 'heimdall init claude --strict' })
  expect((await home.heimdall('uninstall', '--yes')).code).toBe(0)
  expect(Object.keys(contentOf(home))).toEqual(Object.keys(before))
})
