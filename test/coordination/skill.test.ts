// Seed 002 §8.4, §9: the skill tells the flow as it is. Every command in it runs, in order.
import { readFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { systemClock } from '../../src/clock.ts'
import { readMachine } from '../../src/coordination/moment.ts'
import { join } from '../mcp/session.ts'
import { temporaryProject } from '../support/project.ts'
import { openRoom } from './room.ts'
import { silence } from './silence.ts'

const bin = resolve(import.meta.dirname, '../../bin')
const skill = readFileSync(resolve(import.meta.dirname, '../../skills/beadboard-driver/SKILL.md'), 'utf8')
const blocks = [...skill.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')

test('all commands of the skill succeed one after the other', async () => {
  expect(blocks.length).toBeGreaterThan(6)
  const project = temporaryProject()
  const env = { ...project.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
  const { code, stdout, stderr } = await runProgram(['sh', '-e', '-c', blocks.join('\n')], { cwd: project.root, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('"mode": "adopt"')
  expect(stdout).toContain('held by    you, amber-otter')
})

test('a displaced holder that follows the skill sees what the skill says, from its next command on', async () => {
  const project = temporaryProject()
  const bb = async (...args: string[]) => {
    const { stdout, stderr } = await project.run('bb', ['agent', ...args, '--json'])
    return { stderr, ...(JSON.parse(stdout) as { error: { code: string } | null; warnings?: string[] }) }
  }
  const reserve = (agent: string, ...flags: string[]) =>
    bb('reserve', '--agent', agent, '--scope', 'src/lib/*', ...flags)
  await bb('register', '--name', 'amber-otter', '--role', 'backend')
  await bb('register', '--name', 'cobalt-harbor', '--role', 'ui')
  await reserve('amber-otter')
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
  await silence(
    room,
    room.store.read((rows) => rows.agentById('amber-otter')?.haid ?? ''),
    20,
  )
  expect((await reserve('cobalt-harbor', '--takeover-stale')).error).toBeNull()

  const loss = expect.stringMatching(
    /on src\/lib\/\* is expired with epoch 1, now held by cobalt-harbor: write nothing/,
  )
  expect((await bb('inbox', '--agent', 'amber-otter')).warnings).toEqual([loss])
  expect((await bb('status', '--agent', 'amber-otter')).warnings).toEqual([loss])
  const beaten = await bb('heartbeat', '--agent', 'amber-otter')
  expect(beaten).toMatchObject({ error: null, stderr: expect.stringContaining('warning: claim'), warnings: [loss] })
  expect(await bb('heartbeat', '--agent', 'amber-otter')).not.toHaveProperty('warnings')
  const { stdout } = await project.run('heimdall', ['claim', 'renew', '--agent', 'amber-otter', '--json'])
  const seen = [
    (JSON.parse(stdout) as { error: { code: string; lost: unknown } }).error,
    (await reserve('amber-otter')).error,
    (await bb('release', '--agent', 'amber-otter', '--scope', 'src/lib/*')).error,
  ].map((error) => error?.code)
  expect(seen).toEqual(['CLAIM_FENCED', 'RESERVATION_CONFLICT', 'RELEASE_FORBIDDEN'])
  for (const code of seen) expect(skill).toContain(`\`${code}\``)
})

test('a displaced MCP client is told with its next call', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const { haid } = (await cursor.call('make_claim', { surfaces: ['src/**'], task: 'T-1' })).data
  const room = openRoom({ project, clock: systemClock, boot: readMachine().boot })
  await silence(room, String(haid), 20)
  const taken = await copilot.call('make_claim', { surfaces: ['src/**'], task: 'T-2', takeover_stale: true })
  expect(taken.isError).toBe(false)
  const lost = expect.stringContaining('now held by copilot')
  expect((await cursor.call('read_claims')).data).toMatchObject({ lost_claims: lost })
  expect((await cursor.call('blackboard_set', { key: 'k', value: 'v' })).data).toMatchObject({ lost_claims: lost })
  expect((await cursor.call('read_claims')).data).not.toHaveProperty('lost_claims')
})
