// The files of a repository are counted once for as long as git's index is the same, and names do not wait for the count.
import { expect, test } from 'vitest'
import { RepositoryFiles } from '../../src/hub/facts/repository-files.ts'
import { temporaryProject } from '../support/project.ts'

test('names come at once, lines when they are counted, and both anew when git has something new', async () => {
  const project = temporaryProject()
  project.write('src/a.ts', 'one\ntwo\n')
  project.git('add', '-A')
  const files = new RepositoryFiles(project.root, project.env)
  expect(await files.names()).toContainEqual({ path: 'src/a.ts' })
  const tree = await files.tree()
  expect(tree.files).toContainEqual({ path: 'src/a.ts', lines: 2 })
  expect(await files.tree()).toBe(tree)
  expect(await files.names()).toBe(tree.files)
  project.write('src/b.ts', 'one\n')
  project.git('add', '-A')
  expect((await files.tree()).files).toContainEqual({ path: 'src/b.ts', lines: 1 })
})

test('without git there is nothing, and no complaint', async () => {
  const project = temporaryProject({ git: false })
  const files = new RepositoryFiles(project.root, project.env)
  expect([await files.names(), await files.tree()]).toEqual([[], { files: [], left_out: 0 }])
})
