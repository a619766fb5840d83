// What of its environment a shim hands to the server: seed 004 §4 (no secret where it does not belong), and what `import` writes.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'
import { type Json, startShim } from '../support/shim-client.ts'

const OURS = {
  HEIMDALL_SECRET: 'proof of the agent',
  HEIMDALL_HAID: 'haid:ana.box-1f2e/amber-otter',
  HEIMDALL_AGENT_ID: 'amber-otter',
  HEIMDALL_SESSION_ID: 'amber-otter',
  BB_AGENT: 'amber-otter',
  SUB_RUN_ID: 'run-of-this-test',
  SUB_AGENT_ID: 'amber-otter',
  SUB_ENV: 'dev',
  SUB_CLIENT: 'claude',
  SUB_PRINCIPAL: 'ana',
  SUB_SECRETS_PATH: '/nowhere',
  SUB_SECRET_GITHUB_TOKEN: 'ghp_of_another_server',
}
const FOREIGN = { GITHUB_TOKEN: 'ghp_ambient', API_KEY: 'of this server', LC_TIME: 'C', https_proxy: 'http://proxy:1' }

async function environmentOf(flags: readonly string[]): Promise<Record<string, string>> {
  const shim = startShim({ env: { ...OURS, ...FOREIGN, HEIMDALL_SESSION_KEY: 'session-1' }, flags })
  const answer = await shim.call('env')
  await shim.end()
  return JSON.parse(answer['result'].content[0].text as string) as Record<string, string>
}

const oursIn = (env: object): string[] => Object.keys(OURS).filter((name) => Object.hasOwn(env, name))

test('a line written by hand passes on everything but policy, secrets and identity', async () => {
  const env = await environmentOf([])
  expect(oursIn(env)).toEqual([])
  expect(env).toMatchObject(FOREIGN)
  // By this a session finds what was started in it.
  expect(env).toMatchObject({ HEIMDALL_SESSION_KEY: 'session-1' })
})

test('with --pass-env the server gets a base set and what is named, and never what is ours', async () => {
  const env = await environmentOf(['--pass-env', 'API_KEY,HEIMDALL_SECRET', '--pass-env=SUB_SECRET_GITHUB_TOKEN'])
  expect(oursIn(env)).toEqual([])
  expect(env).toMatchObject({ API_KEY: FOREIGN.API_KEY, LC_TIME: 'C', https_proxy: 'http://proxy:1' })
  expect(env).toMatchObject({ PATH: process.env['PATH'], HEIMDALL_SESSION_KEY: 'session-1' })
  expect(Object.hasOwn(env, 'GITHUB_TOKEN')).toBe(false)
})

test('--pass-env with nothing named leaves the base set', async () => {
  const env = await environmentOf(['--pass-env='])
  expect(Object.keys(FOREIGN).filter((name) => Object.hasOwn(env, name))).toEqual(['LC_TIME', 'https_proxy'])
})

/** Starts the ledger server behind a shim by this command line and asks it to act. */
async function ledgerBehindShim(server: readonly string[], path: string): Promise<Json> {
  const shim = startShim({
    bin: 'heimdall',
    server,
    env: { PATH: path, HEIMDALL_SECRET: 'not the secret of anybody' },
  })
  shim.send({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  await shim.answer(1)
  shim.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const answer = await shim.call('make_claim', { surface: 'src/a.ts' })
  await shim.end()
  return answer
}

test('our own ledger server is given the secret, by whatever path it is named', async () => {
  const own = resolve('bin/heimdall-ledger-mcp')
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'bin'))
  symlinkSync(own, join(folder, 'bin/heimdall-ledger-mcp'))
  const path = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`
  for (const server of [[own], [process.execPath, own], ['heimdall-ledger-mcp']]) {
    const answer = await ledgerBehindShim(server, path)
    // It refuses because a secret has reached it that is nobody's.
    expect(JSON.stringify(answer)).toContain('IDENTITY_UNPROVEN')
  }
})

test('what only calls itself like the ledger server gets nothing of ours', async () => {
  const folder = temporaryFolder()
  const [node, program] = [process.execPath, resolve('.build/fixtures/shim-upstream.mjs')]
  symlinkSync(program, join(folder, 'heimdall-ledger-mcp'))
  const shim = startShim({ server: [node, join(folder, 'heimdall-ledger-mcp')], env: OURS })
  const env = JSON.parse((await shim.call('env'))['result'].content[0].text as string) as object
  await shim.end()
  expect(oursIn(env)).toEqual([])
})
