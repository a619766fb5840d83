// Files and servers that are odd but real: what cannot be put behind the shim is named, nothing is claimed, and one broken file stops no other.
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { hostHome, serversIn } from '../support/host-configs.ts'
import type { Json } from '../support/shim-client.ts'

test('an address besides a command, or a type that is not stdio: left and named', async () => {
  const home = hostHome()
  const servers = {
    http: { type: 'http', command: 'node' },
    sse: { type: 'sse', url: 'http://x', command: 'node' },
    stream: { type: 'streamable-http', url: 'http://x', command: 'node' },
    ws: { type: 'ws', url: 'ws://x', command: 'node' },
    both: { url: 'http://x', command: 'node' },
    gemini: { httpUrl: 'http://x', command: 'node' },
    empty: { type: 'stdio' },
    program: { type: 'stdio', command: 'node' },
  }
  const text = JSON.stringify({ mcpServers: servers }, null, 2)
  home.put('cursor', text)
  const { stdout } = await home.heimdall('mcp', 'import', 'cursor', '--yes')
  for (const [name, type] of Object.entries({ http: 'http', sse: 'sse', stream: 'streamable-http', ws: 'ws' }))
    expect(stdout).toMatch(new RegExp(`left +${name}: it is remote \\(${type}\\)`))
  expect(stdout).toMatch(/left +both: it has a command and a url/)
  expect(stdout).toMatch(/left +gemini: it has a command and a httpUrl/)
  expect(stdout).toMatch(/left +empty: it has no command/)
  expect(stdout).toMatch(/wrap +program/)
  const { program, ...others } = serversIn('cursor', home.textOf('cursor'))
  expect(others).toEqual(Object.fromEntries(Object.entries(servers).filter(([name]) => name !== 'program')))
  expect(program?.command).toBe(process.execPath)
  // An address that comes later: what is on record of the server stays on record.
  home.put(
    'cursor',
    home.textOf('cursor').replace('"type": "stdio",\n      "command": "/', '"url": "http://x",\n      "command": "/'),
  )
  expect((await home.heimdall('mcp', 'import', 'cursor', '--yes')).stdout).toMatch(
    /left +program: it has a command and a url/,
  )
  await home.heimdall('mcp', 'restore', 'cursor', '--yes')
  expect(serversIn('cursor', home.textOf('cursor'))['program']).toEqual({ url: 'http://x', command: 'node' })
})

test('what stands in the place of a server and is none is named', async () => {
  const home = hostHome()
  home.put('claude', '{"mcpServers":{"a":null,"b":3,"c":"x","d":[],"e":true,"f":{"command":"node"}}}')
  const { stdout } = await home.heimdall('mcp', 'import', 'claude', '--yes')
  for (const [name, kind] of Object.entries({ a: 'null', b: 'a number', c: 'a text', d: 'a list', e: 'a boolean' }))
    expect(stdout).toMatch(new RegExp(`left +${name}: it is ${kind}`))
  expect(stdout).toMatch(/wrap +f/)
  home.put('codex', '[mcp_servers]\na = 3\nb = ["x"]\nc.command = "node"\n')
  expect((await home.heimdall('mcp', 'import', 'codex', '--yes')).stdout).toMatch(
    /wrap +c[^]*left +a: it is a number[^]*left +b/,
  )
})

test('a variable that no list can name is not passed on, and nothing else instead of it', async () => {
  const home = hostHome()
  home.put('claude', '{"mcpServers":{"a":{"command":"node","env":{"K,L":"1","*":"2","GOOD":"3"}}}}')
  const { stdout } = await home.heimdall('mcp', 'import', 'claude', '--yes')
  expect(stdout).toMatch(/wrap +a: it no longer gets "K,L", "\*"/)
  expect(serversIn('claude', home.textOf('claude'))['a']?.args).toContain('--pass-env=GOOD')
  home.put('codex', '[mcp_servers.a]\ncommand = "node"\nenv_vars = ["*", "GOOD"]\n')
  await home.heimdall('mcp', 'import', 'codex', '--yes')
  expect(serversIn('codex', home.textOf('codex'))['a']?.args).toContain('--pass-env=GOOD')
})

test('values of variables and of other settings are shown to nobody', async () => {
  const home = hostHome()
  home.put(
    'claude',
    '{"oauth":{"key":"t0ken-1"},"mcpServers":{"a":{"command":"node","args":["seen"],"env":{"T":"t0ken-2"},"headers":[{"x":"t0ken-3"}]}}}',
  )
  home.put(
    'codex',
    'mcp_servers = { a = { env = { T = "t0ken-4", U = """\nt0ken-5\nt0ken-6""" }, command = "node", args = ["seen"], x = [{ y = "t0ken-7" }] } }\n',
  )
  const shown = async (...flags: string[]): Promise<void> => {
    for (const command of ['import', 'restore']) {
      for (const more of [['--dry-run'], ['--dry-run', '--json'], ['--yes', '--json']]) {
        const { stdout, stderr } = await home.heimdall('mcp', command, 'claude', 'codex', ...more, ...flags)
        expect(stdout).toContain('seen')
        expect(stdout + stderr).not.toContain('t0ken')
      }
    }
  }
  await shown()
})

test.each(['', ' \n\n', '// nothing yet\n', '\uFEFF'])(
  'a settings file without settings has no servers: %j',
  async (text) => {
    const home = hostHome()
    home.put('gemini', text)
    const { code, stdout } = await home.heimdall('mcp', 'import', 'gemini', '--yes')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('no servers') })
    expect(home.textOf('gemini')).toBe(text)
  },
)

test('one broken file stops no other, and the exit code tells', async () => {
  const home = hostHome()
  home.put('claude', '{"mcpServers":')
  const text = '{"mcpServers":{"a":{"command":"node"}}}'
  home.put('gemini', text)
  const failed = [{ host: 'claude', path: home.file('claude'), code: 'HOST_CONFIG_INVALID' }]
  for (const flag of ['--dry-run', '--yes']) {
    const { code, stdout, stderr } = await home.heimdall('mcp', 'import', 'claude', 'gemini', flag, '--json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      data: { failed, files: [{ host: 'gemini', changed: true }] },
    })
    expect(stderr).toContain(`error: ${home.file('claude')}:1:`)
  }
  expect(home.textOf('gemini')).toContain('--server-name=a')
  const restored = await home.heimdall('mcp', 'restore', 'claude', 'gemini', '--yes')
  expect(restored).toMatchObject({ code: 2, stderr: expect.stringContaining(home.file('claude')) })
  expect(home.textOf('gemini')).toBe(text)
})

test('a link is read as the host reads it, whatever its target is called', async () => {
  const home = hostHome()
  const text = '[mcp_servers.a]\ncommand = "node"\n'
  const target = home.write('dotfiles/codex-config', text)
  mkdirSync(dirname(home.file('codex')), { recursive: true })
  symlinkSync(target, home.file('codex'))
  expect((await home.heimdall('mcp', 'import', 'codex', '--yes')).stdout).toMatch(/wrap +a/)
  // From elsewhere only the record leads there.
  const away = { env: { CODEX_HOME: join(home.home, 'other') } }
  expect((await home.run('heimdall', ['mcp', 'restore', 'codex', '--yes'], away)).stdout).toMatch(/restore +a/)
  expect(home.textOf('codex')).toBe(text)
})

test('links in a circle and to nothing: one line with what is wrong, and the others go on', async () => {
  const home = hostHome()
  symlinkSync('.claude.json', home.file('claude'))
  mkdirSync(dirname(home.file('gemini')), { recursive: true })
  symlinkSync('nowhere', home.file('gemini'))
  const circle = await home.heimdall('mcp', 'import', 'claude', '--yes', '--json')
  expect(circle.code).toBe(2)
  expect((JSON.parse(circle.stdout) as Json)['error']).toMatchObject({
    code: 'HOST_CONFIG_INVALID',
    message: `${home.file('claude')} is a link that leads in a circle`,
  })
  const nowhere = await home.heimdall('mcp', 'import', 'gemini', '--yes')
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('is a link to a file that is not there') })
  expect(nowhere.stderr).not.toMatch(/^ +at /m)
  home.put('cursor', '{"mcpServers":{"a":{"command":"node"}}}')
  const all = await home.heimdall('mcp', 'import', 'claude', 'gemini', 'cursor', '--yes')
  expect(all).toMatchObject({ code: 2, stdout: expect.stringMatching(/wrap +a/) })
  expect((await home.heimdall('mcp', 'restore', 'claude', 'cursor', '--yes')).code).toBe(0)
})

test('by the name that never asks no help says that it asks', async () => {
  const home = hostHome()
  for (const command of ['import', 'restore'])
    expect((await home.run('sub', [command, '--help'])).stdout).not.toMatch(/\basks?\b/)
})
