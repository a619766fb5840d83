// Claims in the path of a call, for a shim that runs while others claim and release.
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'
import { startShim, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

test('a claim stands in the way of the very next write, also where there was no store before it', async () => {
  const project = temporaryProject()
  const shim = startShim({ cwd: project.root, home: project.home })
  const write = (id: number): object => toolCall(id, 'write_file', { path: 'src/held.ts', content: 'x' })
  // Three in one piece: whether there is a store is asked once for all of them.
  shim.send([1, 2, 3].map((id) => JSON.stringify(write(id))).join('\n'))
  for (const id of [1, 2, 3]) expect(await shim.answer(id)).toHaveProperty('result')
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'backend'])
  await project.run('heimdall', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'src/held.ts', '--bead=T-9'])
  shim.send(write(4))
  expect(JSON.stringify(await shim.answer(4))).toContain('CLAIM_HELD')
  expect(shim.received().match(/src\/held\.ts/g)).toHaveLength(3)
  await shim.end()
})

test('what was the writer’s own a moment ago is asked about again as soon as somebody has claimed', async () => {
  const project = temporaryProject()
  for (const name of ['moss-plover', 'amber-otter'])
    await project.run('heimdall', ['agent', 'register', '--name', name, '--role', 'backend'])
  const keys = project.path('.git/heimdall/keys')
  const key = readdirSync(keys).find((name) => name.includes('moss-plover')) ?? ''
  const moss = { HEIMDALL_AGENT_ID: 'moss-plover', HEIMDALL_SECRET: readFileSync(join(keys, key), 'utf8').trim() }
  const shim = startShim({ cwd: project.root, home: project.home, env: moss })
  const write = (id: number): object => toolCall(id, 'write_file', { path: 'src/own.ts', content: 'x' })
  const holders = async (): Promise<string> => (await project.run('heimdall', ['claim', 'list', '--json'])).stdout
  shim.send(write(1))
  expect(await shim.answer(1)).toHaveProperty('result')
  await until('the first write to be a claim', async () => (await holders()).includes('src/own.ts'))
  shim.send([2, 3, 4].map((id) => JSON.stringify(write(id))).join('\n'))
  for (const id of [2, 3, 4]) expect(await shim.answer(id)).toHaveProperty('result')
  const released = await project.run('heimdall', ['claim', 'release', 'src/own.ts'], { env: moss })
  expect(released.code, released.stderr).toBe(0)
  const reserve = ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'src/own.ts', '--bead=T-9']
  expect((await project.run('heimdall', reserve)).code).toBe(0)
  shim.send(write(5))
  expect(JSON.stringify(await shim.answer(5))).toContain('CLAIM_HELD')
  await shim.end()
})

test('of calls that arrive together each is judged by where its path leads, also through a link', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'backend'])
  await project.run('heimdall', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'src/held/**', '--bead=T-9'])
  project.write('src/held/a.ts', '')
  project.write('src/free/b.ts', '')
  symlinkSync('held', project.path('src/other'))
  const shim = startShim({ cwd: project.root, home: project.home })
  const paths = ['src/free/b.ts', 'src/other/a.ts', 'src/free/../other/a.ts', 'src/free/b.ts']
  const calls = paths.map((path, id) => JSON.stringify(toolCall(id, 'write_file', { path, content: 'x' })))
  shim.send(calls.join('\n'))
  const answers = await Promise.all(paths.map(async (_, id) => JSON.stringify(await shim.answer(id))))
  expect(answers.map((text) => text.includes('CLAIM_HELD'))).toEqual([false, true, true, false])
  await shim.end()
})
