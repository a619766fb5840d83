// Configurations that are not as an import would like them: wrapped already, broken, changed since. Nothing of anybody's is lost.
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureText, hostHome, serversIn } from '../support/host-configs.ts'
import type { Json } from '../support/shim-client.ts'

test('what the user changes after an import is there after the restore', async () => {
  const home = hostHome()
  home.put('codex')
  await home.heimdall('mcp', 'import', 'codex', '--yes')
  // Elsewhere, in a server's variables, and behind its arguments.
  const change = (text: string): string =>
    text
      .replace('notifications = true', 'notifications = false # quiet')
      .replace("LOG_LEVEL = 'debug'", "LOG_LEVEL = 'info'\nMORE = '1'")
      .replace('"/home/ana/work"]', '"/home/ana/work", "/srv"]')
      .replace('[mcp_servers.figma]', '[mcp_servers.new]\ncommand = "fresh"\n\n[mcp_servers.figma]')
  home.put('codex', change(home.textOf('codex')))
  const { code } = await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(code).toBe(0)
  expect(home.textOf('codex')).toBe(change(fixtureText('codex.toml')))
})

test('a host that writes its file anew in its own formatting loses nothing', async () => {
  const home = hostHome()
  const written = (text: string): string => `${JSON.stringify(JSON.parse(text), null, 2)}\n`
  home.put('claude', written(fixtureText('claude.json')))
  await home.heimdall('mcp', 'import', 'claude', '--yes')
  // Claude Code does so at every start.
  const restarted = JSON.parse(home.textOf('claude')) as Json
  home.put('claude', `${JSON.stringify({ ...restarted, numStartups: 42 }, null, 2)}\n`)
  await home.heimdall('mcp', 'restore', 'claude', '--yes')
  const wanted = { ...(JSON.parse(fixtureText('claude.json')) as Json), numStartups: 42 }
  expect(home.textOf('claude')).toBe(`${JSON.stringify(wanted, null, 2)}\n`)
})

test('a renamed server is restored under its new name; one that got another command, or is gone, is named', async () => {
  const home = hostHome()
  home.put(
    'gemini',
    '{\n  "mcpServers": {\n    "a": { "command": "one" },\n    "b": { "command": "two" },\n    "c": { "command": "three" }\n  }\n}\n',
  )
  await home.heimdall('mcp', 'import', 'gemini', '--yes')
  const text = home
    .textOf('gemini')
    .replace('"a": {', '"renamed": {')
    .replace(/ {4}"b": .*\n/, '    "b": { "command": "mine" },\n')
    .replace(/,\n {4}"c": .*\n/, '\n')
  home.put('gemini', text)
  const { stdout, code } = await home.heimdall('mcp', 'restore', 'gemini', '--yes')
  expect(code).toBe(0)
  expect(stdout).toMatch(/restore +renamed/)
  expect(stdout).toMatch(/changed +b: its command was changed since, and stays/)
  expect(stdout).toMatch(/gone +c/)
  expect(home.textOf('gemini')).toBe(
    '{\n  "mcpServers": {\n    "renamed": { "command": "one" },\n    "b": { "command": "mine" }\n  }\n}\n',
  )
})

test('a line that no longer says what is behind it is refused with the difference, and nothing is written', async () => {
  const home = hostHome()
  home.put('gemini')
  await home.heimdall('mcp', 'import', 'gemini', '--yes')
  const broken = home.textOf('gemini').replace('"--", "python", "-m", "my_mcp_server", "--port", "8080"', '"--"')
  home.put('gemini', broken)
  const { code, stdout } = await home.heimdall('mcp', 'restore', 'gemini', '--yes', '--json')
  expect(code).toBe(5)
  expect((JSON.parse(stdout) as Json)['error']).toMatchObject({
    code: 'IMPORT_CHANGED',
    before: { command: 'python', args: '["-m", "my_mcp_server", "--port", "8080"]' },
    now: { command: process.execPath, args: expect.arrayContaining(['--']) },
  })
  expect(home.textOf('gemini')).toBe(broken)
  // Put back by hand as it was said, the rest comes out.
  home.put('gemini', fixtureText('gemini.json'))
  expect((await home.heimdall('mcp', 'restore', 'gemini', '--yes')).code).toBe(0)
  expect(home.textOf('gemini')).toBe(fixtureText('gemini.json'))
})

test('behind a shim already: of the origin it is named, by hand it is left, of an import it is renewed', async () => {
  const home = hostHome()
  const servers = {
    origin: { command: '/usr/local/bin/shim', args: ['--server-name=origin', '--', 'npx', 'x'] },
    hand: { command: 'heimdall', args: ['mcp', 'shim', '--server-name=hand', '--policy', 'p.yaml', '--', 'npx', 'y'] },
    imported: {
      command: '/old/node',
      args: [
        '/old/bin/heimdall',
        'mcp',
        'shim',
        '--server-name=imported',
        '--policy=mine.yaml',
        '--pass-env=A',
        '--',
        'npx',
        'z',
      ],
      env: { B: '1' },
    },
    empty: { command: 'heimdall', args: ['mcp', 'shim', '--server-name=empty'] },
    odd: { command: ['npx', 'x'] },
  }
  home.put('cursor', JSON.stringify({ mcpServers: servers }, null, 2))
  const { stdout, code } = await home.heimdall('mcp', 'import', 'cursor', '--yes')
  expect(code).toBe(0)
  expect(stdout).toMatch(/left +origin: it is behind another shim, \/usr\/local\/bin\/shim/)
  expect(stdout).toMatch(/left +hand: it is behind a shim that was written by hand/)
  expect(stdout).toMatch(/renew +imported/)
  expect(stdout).toMatch(/left +empty/)
  expect(stdout).toMatch(/left +odd: its command is not a text/)
  const now = serversIn('cursor', home.textOf('cursor'))
  expect(now).toMatchObject({ origin: servers.origin, hand: servers.hand, empty: servers.empty, odd: servers.odd })
  expect(now['imported']?.command).toBe(process.execPath)
  expect(now['imported']?.args?.slice(1)).toEqual([
    'mcp',
    'shim',
    '--server-name=imported',
    '--policy=mine.yaml',
    '--pass-env=A,B',
    '--',
    'npx',
    'z',
  ])
  // Nothing is on record of the last one's past, but its line says enough.
  await home.heimdall('mcp', 'restore', 'cursor', '--yes')
  const after = serversIn('cursor', home.textOf('cursor'))
  expect(after['imported']).toEqual({ command: 'npx', args: ['z'], env: { B: '1' } })
  expect(after['hand']).toEqual(servers.hand)
})

test('what cannot be read is refused with its place, and stays as it is', async () => {
  const home = hostHome()
  for (const [host, text, place] of [
    ['claude', '{\n  "mcpServers": { "a": { "command": "b" }\n', ':3:1: close brace expected'],
    ['codex', '[mcp_servers.a]\ncommand = "b\n', ':2:'],
  ] as const) {
    home.put(host, text)
    const { code, stderr } = await home.heimdall('mcp', 'import', host, '--yes')
    expect(code).toBe(2)
    expect(stderr).toContain(`${home.file(host)}${place}`)
    expect(home.textOf(host)).toBe(text)
  }
  const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
  home.put('cursor', bytes)
  expect((await home.heimdall('mcp', 'import', 'cursor', '--yes')).stderr).toContain('not text in UTF-8')
  expect(readFileSync(home.file('cursor'))).toEqual(bytes)
})

test('a file that is gone, and a record that is', async () => {
  const home = hostHome()
  home.put('cursor')
  await home.heimdall('mcp', 'import', 'cursor', '--yes')
  const wrapped = home.textOf('cursor')
  rmSync(home.file('cursor'))
  const gone = await home.heimdall('mcp', 'restore', 'cursor', '--yes')
  expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining('is gone; nothing to restore there') })
  // Out of a backup, with nothing on record any more.
  writeFileSync(home.file('cursor'), wrapped)
  await home.heimdall('mcp', 'restore', 'cursor', '--yes')
  expect(home.textOf('cursor')).toBe(fixtureText('cursor.json'))
})

test('a record that cannot be read is an error with its path, not a reason to guess', async () => {
  const home = hostHome()
  home.put('cursor')
  await home.heimdall('mcp', 'import', 'cursor', '--yes')
  const folder = join(home.home, '.local/state/heimdall/imports')
  const name = readdirSync(folder).find((one) => one.endsWith('.json')) ?? ''
  writeFileSync(join(folder, name), '{"v":2}')
  const { code, stderr } = await home.heimdall('mcp', 'restore', 'cursor', '--yes')
  expect(code).not.toBe(0)
  expect(stderr).toContain(name)
})

test('doctor says when what the lines start is gone', async () => {
  const home = hostHome()
  home.put('cursor')
  await home.heimdall('mcp', 'import', 'cursor', '--yes')
  const folder = join(home.home, '.local/state/heimdall/imports')
  const path = join(folder, readdirSync(folder).find((one) => one.endsWith('.json')) ?? '')
  const found = async (): Promise<Json | undefined> => {
    const { checks } = (JSON.parse((await home.heimdall('doctor', '--json')).stdout) as Json)['data'] as {
      checks: Json[]
    }
    return checks.find(({ check }) => check === 'imports')
  }
  expect(await found()).toMatchObject({ state: 'ok' })
  const record = JSON.parse(readFileSync(path, 'utf8')) as Json
  writeFileSync(path, JSON.stringify({ ...record, own: { ...record['own'], node: '/gone/node' } }))
  expect(await found()).toMatchObject({
    state: 'fail',
    found: expect.stringContaining('/gone/node'),
    fix: expect.stringContaining('heimdall mcp import cursor'),
  })
})

test('an import that was undone from elsewhere leaves nothing to restore, and nothing that confuses', async () => {
  const home = hostHome()
  home.put('codex')
  await home.heimdall('mcp', 'import', 'codex', '--yes')
  home.put('codex')
  const { stdout, code } = await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(code).toBe(0)
  expect(stdout).toBe('No server of Codex is behind the shim by an import.\n')
  expect(home.textOf('codex')).toBe(fixtureText('codex.toml'))
  expect(readdirSync(join(home.home, '.local/state/heimdall/imports'))).toEqual([])
})

test('files of a hostile project: a link that leads out of it, and a text without a bottom', async () => {
  const home = hostHome()
  home.put('cursor', '{"mcpServers":{}}')
  const outside = join(home.home, 'precious.json')
  writeFileSync(outside, '{"mcpServers":{"a":{"command":"b"}}}')
  home.write('.cursor/keep', '')
  symlinkSync(outside, home.path('.cursor/mcp.json'))
  // Unasked it is a warning and no more.
  const unasked = await home.heimdall('mcp', 'import', 'cursor', '--yes')
  expect(unasked).toMatchObject({ code: 0, stderr: expect.stringContaining('leads out of') })
  const asked = await home.heimdall('mcp', 'import', 'cursor', '--shared', '--yes')
  expect(asked).toMatchObject({ code: 4, stderr: expect.stringContaining('leads out of') })
  expect(readFileSync(outside, 'utf8')).toBe('{"mcpServers":{"a":{"command":"b"}}}')
  home.put('claude', '{"mcpServers":{"a":{"command":"b"}}}')
  home.write('.mcp.json', '['.repeat(200_000))
  const deep = await home.heimdall('mcp', 'import', 'claude', '--yes')
  expect(deep).toMatchObject({ code: 0, stderr: expect.stringContaining('.mcp.json:1:') })
})

test('of several hosts those without a file are named; the configuration of the origin is read under both of its keys', async () => {
  const home = hostHome()
  home.put('gemini')
  const several = await home.heimdall('mcp', 'import', 'gemini', 'codex', '--yes')
  expect(several).toMatchObject({ code: 0, stderr: expect.stringContaining('Codex has no configuration file here') })
  for (const key of ['mcpServers', 'mcp_servers']) {
    const text = JSON.stringify({ [key]: { git: { command: 'uvx', args: ['mcp-server-git'] } } })
    const path = home.write(`${key}.json`, text)
    for (const host of ['claude', 'codex']) {
      const env = { [`SUBLUMINAL_${host.toUpperCase()}_CONFIG`]: path }
      await home.run('sub', ['import', host], { env })
      expect(readFileSync(path, 'utf8')).toContain('--server-name=git')
      await home.run('sub', ['restore', host], { env })
      expect(readFileSync(path, 'utf8')).toBe(text)
    }
  }
})

test('variables that the shim needs and a later import knows of are added, and taken out with the rest', async () => {
  const home = hostHome()
  home.put('codex')
  await home.heimdall('mcp', 'import', 'codex', '--yes')
  const wrapped = home.textOf('codex')
  // One server's list lacks a name, as if an earlier version had written it; another's was removed as a whole.
  const older = wrapped
    .replace('env_vars = ["SUB_RUN_ID", ', 'env_vars = [')
    .replace(/(\[mcp_servers\.bare\]\n.*\n.*\n)env_vars = .*\n/, '$1')
  expect(older.length).toBeLessThan(wrapped.length - 100)
  home.put('codex', older)
  expect((await home.heimdall('mcp', 'import', 'codex', '--yes')).stdout).toMatch(/renew +fs[^]*renew +bare/)
  for (const name of ['fs', 'bare'])
    expect(serversIn('codex', home.textOf('codex'))[name]?.env_vars).toContain('SUB_RUN_ID')
  await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(home.textOf('codex')).toBe(fixtureText('codex.toml'))
})

test('a list of variables that is none is no place to add to', async () => {
  const home = hostHome()
  const text = '[mcp_servers.a]\ncommand = "b"\nenv_vars = "TOKEN"\n'
  home.put('codex', text)
  const { stdout, code } = await home.heimdall('mcp', 'import', 'codex', '--yes')
  expect(code).toBe(0)
  expect(stdout).toMatch(/left +a: its env_vars are not a list/)
  expect(home.textOf('codex')).toBe(text)
})
