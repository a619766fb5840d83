// A COLLISION said who was in the way and not what to do about it; and a ledger that could not be written took the place
// of the answer to a change that was committed.
import { mkdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'

test('every door that reports a collision says what can be done', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    await project.run('bb', ['agent', 'register', '--name', name, '--role', 'x'])
  await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter'])
  const hint = 'hint: ask amber-otter for a handoff, wait for it, or work elsewhere'
  for (const [bin, ...args] of [
    ['heimdall', 'claim', 'take', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall', 'claim', 'check', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall', 'claim', 'takeover', 'src/a.ts', '--agent', 'cobalt-harbor'],
    ['heimdall-claim', 'check', 'src/a.ts'],
  ] as const) {
    const { stderr } = await project.run(bin, args)
    expect(stderr).toMatch(/^COLLISION: /)
    expect(stderr).toContain(hint)
  }
  const waited = await project.run('heimdall', [
    'claim',
    'wait',
    'src/a.ts',
    '--agent',
    'cobalt-harbor',
    '--timeout',
    '1s',
  ])
  expect(waited.stderr).toContain('ask amber-otter for a handoff')
  const reserved = await project.run('bb', ['agent', 'reserve', '--agent', 'cobalt-harbor', '--scope', 'src/a.ts'])
  expect(reserved.stderr + reserved.stdout).toMatch(/ask for a handoff/)
  const json = await project.run('heimdall', ['claim', 'check', 'src/a.ts', '--agent', 'cobalt-harbor', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ data: { conflicts: [{ hint: hint.slice('hint: '.length) }] } })
})

test('whatever becomes of the ledger’s files, the answer to a committed change is given', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'x'])
  const dir = project.path('.planning/ledger')
  rmSync(dir, { recursive: true })
  project.write('.planning/ledger', 'a file where the folder belongs')
  const taken = await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter', '--json'])
  expect(taken).toMatchObject({ code: 0, stderr: expect.stringContaining('the ledger files are behind') })
  expect(JSON.parse(taken.stdout)).toMatchObject({ ok: true, data: { granted: true } })
  rmSync(dir)
  mkdirSync(dir)
  await project.run('heimdall', ['claim', 'release', '--agent', 'amber-otter'])
  expect(project.read('.planning/ledger/events.jsonl').match(/"event_type":"CLAIM"/g)).toHaveLength(1)
})
