// Variables that are the shim's: a server that is no longer behind it is not handed them, whoever took it out and whatever is on record.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type HostHome, hostHome, serversIn } from '../support/host-configs.ts'
import type { Json } from '../support/shim-client.ts'

const TEXT = `[mcp_servers.a]
command = "node"
args = ["x"]

[mcp_servers.b]
command = "n"
args = ["y"]
env_vars = ["MINE", "XDG_CONFIG_HOME"]
`
const OURS = /HEIMDALL_|SUB_|BB_AGENT/

async function imported(text = TEXT): Promise<HostHome> {
  const home = hostHome()
  home.put('codex', text)
  await home.heimdall('mcp', 'import', 'codex', '--yes')
  expect(home.textOf('codex')).toContain('HEIMDALL_SECRET')
  return home
}

const forget = (home: HostHome): void => rmSync(join(home.home, '.local/state/heimdall/imports'), { recursive: true })

/** As somebody would who knows nothing of `env_vars`. */
const byHand = (home: HostHome, command: string): void => {
  const servers = home.textOf('codex').split('\n\n')
  const lines = servers.map((one, index) =>
    one
      .replace(/^command = .*$/m, `command = "${['node', 'n'][index] ?? ''}${command}"`)
      .replace(/^args = .*$/m, `args = ["${['x', 'y'][index] ?? ''}"]`),
  )
  home.put('codex', lines.join('\n\n'))
}

test('the record is lost: our names go with the shim, and a list that held nothing else', async () => {
  const home = await imported()
  forget(home)
  const { stdout, code } = await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(code).toBe(0)
  expect(stdout).toMatch(/restore +a: it no longer receives SUB_RUN_ID.*HEIMDALL_SECRET/)
  expect(serversIn('codex', home.textOf('codex'))).toEqual({
    a: { command: 'node', args: ['x'] },
    b: { command: 'n', args: ['y'], env_vars: ['MINE'] },
  })
})

test.each([true, false])(
  'put back by hand, with a record or not (%s): our names are taken out and named',
  async (isKnown) => {
    const home = await imported()
    if (!isKnown) forget(home)
    byHand(home, '')
    const { stdout, code } = await home.heimdall('mcp', 'restore', 'codex', '--yes', '--json')
    expect(code).toBe(0)
    const { files } = (JSON.parse(stdout) as Json)['data'] as Json
    expect(files[0].servers[0]).toMatchObject({
      name: 'a',
      outcome: 'unlisted',
      unlisted: expect.arrayContaining(['HEIMDALL_SECRET', 'SUB_POLICY_JSON', 'HEIMDALL_SESSION_KEY']),
    })
    if (isKnown) expect(home.textOf('codex')).toBe(TEXT)
    else expect(home.textOf('codex')).toBe(TEXT.replace(', "XDG_CONFIG_HOME"', ''))
  },
)

test('another command by hand: it stays, our names do not', async () => {
  const home = await imported()
  byHand(home, '-new')
  const { stdout } = await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(stdout).toMatch(/changed +a: its command was changed since, and stays; it no longer receives SUB_RUN_ID/)
  expect(home.textOf('codex')).toBe(TEXT.replace('"node"', '"node-new"').replace('"n"', '"n-new"'))
})

test('left over from an import that nobody remembers, then imported and restored: they do not come back', async () => {
  const home = await imported()
  forget(home)
  byHand(home, '')
  expect((await home.heimdall('mcp', 'import', 'codex', '--yes')).stdout).toMatch(/wrap +a[^]*wrap +b/)
  expect((await home.heimdall('mcp', 'restore', 'codex', '--yes')).code).toBe(0)
  expect(home.textOf('codex')).not.toMatch(OURS)
  expect(serversIn('codex', home.textOf('codex'))['a']).toEqual({ command: 'node', args: ['x'] })
})

test('behind a shim that is not an import’s the names stay: it needs them', async () => {
  const home = hostHome()
  const text = [
    '[mcp_servers.hand]\ncommand = "heimdall"\nargs = ["mcp", "shim", "--", "x"]\nenv_vars = ["HEIMDALL_SECRET"]\n',
    '[mcp_servers.origin]\ncommand = "/bin/shim"\nargs = ["--server-name=o", "--", "x"]\nenv_vars = ["SUB_RUN_ID"]\n',
  ].join('\n')
  home.put('codex', text)
  expect((await home.heimdall('mcp', 'restore', 'codex', '--yes')).code).toBe(0)
  expect(home.textOf('codex')).toBe(text)
})

test.each([
  '[mcp_servers.__proto__]\ncommand = "node"\n',
  'mcp_servers = { "__proto__" = { command = "node" } }\n',
  'mcp_servers.__proto__.command = "node"\n',
  '[mcp_servers]\n__proto__ = { command = "node" }\nconstructor.command = "x"\n',
])('a server may be called __proto__: %j', async (text) => {
  const home = hostHome()
  home.put('codex', text)
  expect((await home.heimdall('mcp', 'import', 'codex', '--yes')).stdout).toMatch(/wrap +__proto__/)
  expect(home.textOf('codex')).toContain('"--server-name=__proto__"')
  await home.heimdall('mcp', 'restore', 'codex', '--yes')
  expect(home.textOf('codex')).toBe(text)
})
