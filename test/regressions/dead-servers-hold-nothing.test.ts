// An MCP server that is gone is evicted at once, and its client takes up what it held by its HAID and proof (seed 000 T-4, seed 002 §4.4).
import { expect, test } from 'vitest'
import { join, RawSession } from '../mcp/session.ts'
import { launcher } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

const CLAIM = { surfaces: ['src/**'], task: 'T-1' }

async function standing(project: TemporaryProject): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'list', '--all', '--json'])
  const { data } = JSON.parse(stdout) as { data: Record<string, unknown>[] }
  return data.map((claim) => [claim['agent_id'], claim['liveness']])
}

async function history(project: TemporaryProject, type: string): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', type, '--json'])
  return (JSON.parse(stdout) as { data: unknown }).data
}

test('a killed server is evicted at once; its leases are free to take with the usual flag, not without', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await cursor.call('make_claim', CLAIM)
  expect(await copilot.call('make_claim', { ...CLAIM, takeover_stale: true })).toMatchObject({ isError: true })
  cursor.program.kill('SIGKILL')
  await cursor.program.ended
  expect(await standing(project)).toEqual([['cursor', 'evicted']])
  expect(await copilot.call('make_claim', CLAIM)).toMatchObject({ isError: true })
  expect(await copilot.call('make_claim', { ...CLAIM, takeover_stale: true })).toMatchObject({
    isError: false,
    data: { displaced: [{ surface: 'src/**' }] },
  })
})

test('a server that ends says so, whether its client leaves or it is asked to', async () => {
  const project = temporaryProject()
  const [left, asked] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await left.call('make_claim', CLAIM)
  await asked.call('read_claims')
  expect(await left.end()).toBe(0)
  asked.program.kill('SIGTERM')
  await asked.program.ended
  expect(await history(project, 'SESSION_END')).toMatchObject([
    { from_agent: 'cursor', payload: { left: [expect.stringMatching(/^res_/)] } },
    { from_agent: 'copilot', payload: { left: [] } },
  ])
  expect(await standing(project)).toEqual([['cursor', 'evicted']])
})

test('started again by the same program, a client goes on with what it held; started by another, it does not', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const { haid } = (await first.call('make_claim', CLAIM)).data
  first.program.kill('SIGKILL')
  await first.program.ended
  // Below a program of its own, as another editor's server is.
  const [file, ...args] = launcher('heimdall-ledger-mcp')
  const other = new RawSession(project, { command: ['/bin/sh', '-c', '"$@"; exit', 'sh', file, ...args] })
  await other.initialize('cursor')
  expect(await other.call('make_claim', CLAIM)).toMatchObject({ isError: true, data: { error: 'collision' } })
  const again = await join(project, 'cursor')
  expect(await again.call('make_claim', CLAIM)).toMatchObject({
    isError: false,
    data: { haid, result: expect.stringContaining('renewed') },
  })
  expect(await standing(project)).toEqual([['cursor', 'active']])
})

test('a HAID and its key prove a client wherever it is started, once nobody runs under that name', async () => {
  const project = temporaryProject()
  const first = await join(project, 'cursor')
  const { haid } = (await first.call('make_claim', CLAIM)).data
  const env = { HEIMDALL_HAID: String(haid) }
  const early = await join(project, 'cursor', { env })
  expect(await early.call('release_claim')).toMatchObject({ isError: true, data: { error: 'IDENTITY_HELD' } })
  await first.end()
  const again = await join(project, 'other-name', { env })
  expect(await again.call('release_claim')).toMatchObject({ isError: false, data: { haid, released: 1 } })
})

test('a label that another session has is refused, on record under the connection’s own name', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  await cursor.call('make_claim', CLAIM)
  expect(await copilot.call('release_claim', { client_identity: 'cursor' })).toMatchObject({
    isError: true,
    data: { error: 'IDENTITY_HELD' },
  })
  expect(await history(project, 'REFUSED')).toMatchObject([
    { from_agent: 'copilot', to_agent: 'cursor', payload: { code: 'IDENTITY_HELD' } },
  ])
  expect(await standing(project)).toEqual([['cursor', 'active']])
})
