// An emptied store, and a link that leads nowhere, passed for a repository where nobody had claimed anything.
import { renameSync, symlinkSync, truncateSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

async function withClaim(): Promise<{ project: TemporaryProject; store: string }> {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  const taken = await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter'])
  expect(taken).toMatchObject({ code: 0 })
  return { project, store: project.path('.git/heimdall/coordination.db') }
}

const QUESTIONS = [
  ['claim', 'check', 'src/x'],
  ['claim', 'list'],
  ['claim', 'take', 'docs', '--agent', 'amber-otter'],
]

test('an empty store beside the keys of its agents is corrupt, and never clear', async () => {
  const { project, store } = await withClaim()
  truncateSync(store)
  for (const words of QUESTIONS)
    expect([words, await project.run('heimdall', words)]).toMatchObject([
      words,
      { code: 8, stdout: '', stderr: expect.stringMatching(/coordination\.db is empty[^]*hint: .*move it aside/) },
    ])
  renameSync(store, `${store}.aside`)
  expect(await project.run('heimdall', ['claim', 'check', 'src/x'])).toMatchObject({ code: 0 })
})

test('a link in the place of the store is refused by who reads as by who writes', async () => {
  const { project, store } = await withClaim()
  renameSync(store, `${store}.aside`)
  symlinkSync(`${store}.nowhere`, store)
  for (const words of QUESTIONS)
    expect([words, await project.run('heimdall', words)]).toMatchObject([
      words,
      { code: 8, stdout: '', stderr: expect.stringContaining('is a symbolic link') },
    ])
})

test('a claim that stands in for an earlier one of the same agent says which it released', async () => {
  const { project } = await withClaim()
  const docs = await project.run('heimdall', ['claim', 'take', 'docs', '--agent', 'amber-otter'])
  expect(docs).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('released: src, your earlier claim for no task'),
  })
  const lib = await project.run('heimdall', ['claim', 'take', 'lib', '--agent', 'amber-otter', '--json'])
  expect(JSON.parse(lib.stdout)).toMatchObject({ data: { released: [{ task: null, scopes: ['docs'] }] } })
})
