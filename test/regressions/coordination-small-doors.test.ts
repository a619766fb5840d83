// Small doors of coordination: claims by id, agents by id, a baseline of nothing.
import { expect, test } from 'vitest'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

test('a claim is named by its id, and another’s is refused as another’s', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
  await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter'])
  const list = await project.run('heimdall', ['claim', 'list', '--json'])
  const [{ claim_id: id }] = (JSON.parse(list.stdout) as { data: [{ claim_id: string }] }).data
  for (const verb of ['release', 'renew'])
    expect(await project.run('heimdall', ['claim', verb, id, '--agent', 'cobalt-harbor', '--json'])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('RELEASE_FORBIDDEN'),
    })
  for (const verb of ['renew', 'release'])
    expect(await project.run('heimdall', ['claim', verb, id, '--agent', 'amber-otter'])).toMatchObject({ code: 0 })
})

test('an agent is revoked by its id as by its HAID', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const revoke = ownTerminal([...launcher('heimdall'), 'haid', 'revoke', 'amber-otter'], {
    cwd: project.root,
    env: project.env,
  })
  expect([await revoke.ended, revoke.written()]).toEqual([0, expect.stringMatching(/^haid:.*amber-otter revoked/)])
})

test('a baseline of no tokens is refused', async () => {
  const project = temporaryProject()
  const refused = await project.run('heimdall', ['tokens', 'baseline', '--role', 'x', '--tokens', '0'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('a baseline of 0 tokens') })
})

test('whoever holds a path that another has claimed as well is told so by a check', async () => {
  const project = temporaryProject()
  for (const [name, scope] of [
    ['amber-otter', 'src/api.ts'],
    ['cobalt-harbor', 'src/**/*.test.ts'],
  ] as const) {
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])
    expect(await project.run('heimdall', ['claim', 'take', scope, '--agent', name])).toMatchObject({ code: 0 })
  }
  const path = 'src/api.ts/x.test.ts'
  expect(await project.run('heimdall', ['claim', 'check', path, '--agent', 'amber-otter'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`cobalt-harbor has claimed ${path} as well`),
  })
})
