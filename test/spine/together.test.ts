// Several runs on one repository: they collide in the same way at every door, and however they end, each is closed once.
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { killIfRunning } from '../support/programs.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { isClosedOnce, spine, type Spine } from './spine.ts'

const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`

/** One tool call to the ledger server, as a host would make it; its answer on one line. */
const MCP = (tool: string, args: object): string => {
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: tool, arguments: args } },
  ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }))
  return `(printf '%s\\n' ${messages.map((text) => `'${text}'`).join(' ')}; cat >/dev/null) | heimdall-ledger-mcp | grep -m1 '"id":2'`
}

async function output(project: Spine, agent: string, script: string): Promise<string> {
  const { stdout, stderr, code } = await project.run(
    'heimdall',
    ['run', '--agent', agent, '--', 'bash', '-c', script],
    {
      env: { PATH },
    },
  )
  if (code !== 0) throw new Error(`${agent} ended with ${code}: ${stdout}${stderr}`)
  return stdout.replaceAll('\r', '')
}

test('two agents collide on a file: over MCP, at the command line and at the commit they get the same answer', async () => {
  const project = spine()
  await project.run('heimdall', ['guard', 'install'])
  await project.json(
    [
      'run',
      '--agent',
      'amber-otter',
      '--detach',
      '--',
      'sh',
      '-c',
      'heimdall claim src/api.ts --task T-1; exec sleep 1000',
    ],
    { env: { PATH } },
  )
  await until('the first to hold it', async () => (await project.claims()).length === 1)
  project.write('src/api.ts', 'export {}\n')
  const overMcp = await output(project, 'brisk-heron', MCP('check_claim', { surfaces: ['src/api.ts'] }))
  const atTheLine = await output(project, 'brisk-heron', 'heimdall claim check src/api.ts --json; true')
  const atTheCommit = await output(project, 'brisk-heron', 'git add src/api.ts; git commit -m x 2>&1; true')
  for (const answer of [overMcp, atTheLine, atTheCommit]) expect(answer).toContain('amber-otter')
  // Nobody got past it: the commit is not there, and the one who holds it may make it.
  expect(project.git('log', '--format=%s')).toBe('start\n')
  const collisions = ofType(await events(project), 'INCURSION')
  expect(collisions.length).toBeGreaterThan(0)
})

async function events(project: Spine): Promise<Json[]> {
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--json'])
  const { data } = JSON.parse(stdout) as { data: { event_type: string }[] }
  return data.map((event) => ({ ...event, type: event.event_type }))
}

test('many runs at once, started and ended at random: every run is closed once, every claim released', async () => {
  const project = spine()
  const count = scaled(4, 50)
  const ways = ['exit', 'fail', 'kill', 'supervisor', 'watcher', 'both'] as const
  const endings = Array.from({ length: count }, (_, i) => ways[i % ways.length] ?? 'exit')
  const runs = await Promise.all(
    endings.map(async (way, i) => {
      const agent = `agent-${i}`
      const script = `heimdall claim src/${i} >/dev/null; echo ready; read line; exit ${way === 'fail' ? 3 : 0}`
      const started = await project.json(['run', '--agent', agent, '--detach', '--', 'sh', '-c', script], {
        env: { PATH },
      })
      const run = String(started['run_id'])
      const ready = async (): Promise<boolean> => (await project.run('hm', ['logs', agent])).stdout.includes('ready')
      await until(`${agent} to be ready`, ready, { waitMs: 300_000 })
      if (way === 'supervisor' || way === 'both') process.kill(Number(started['supervisor_pid']), 'SIGKILL')
      if (way === 'watcher' || way === 'both') killIfRunning(await project.watcher())
      if (way === 'kill') await project.run('hm', ['kill', agent])
      if (way === 'exit' || way === 'fail' || way === 'watcher')
        await project.run('hm', ['send', agent, 'go', '--enter'])
      return { run, way }
    }),
  )
  await until(
    'all to be settled',
    async () => {
      // The last supervisor may have been killed with the watcher.
      await project.run('heimdall', ['doctor', '--fix'])
      return project.sheets().length === 0
    },
    { waitMs: 300_000 },
  )
  const statuses = {
    exit: 'SUCCEEDED',
    fail: 'FAILED',
    kill: 'CANCELLED',
    supervisor: 'FAILED',
    watcher: 'SUCCEEDED',
    both: 'FAILED',
  }
  for (const { run, way } of runs) {
    const record = project.events(run)
    expect({ way, closed: isClosedOnce(record) }).toEqual({ way, closed: true })
    expect({ way, status: ofType(record, 'run_end')[0]?.['run'].status as string }).toEqual({
      way,
      status: statuses[way],
    })
  }
  expect(await project.claims()).toEqual([])
  await until('nothing to run', () => project.processes().length === 0)
})
