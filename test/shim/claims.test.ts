// Claims in the path of a call (DESIGN §6), for a shim that runs before anybody has claimed anything.
import { expect, test } from 'vitest'
import { temporaryProject } from '../support/project.ts'
import { startShim, toolCall } from '../support/shim-client.ts'

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
