// The disk as scopes see it: links resolved and kept inside, kinds, worktrees, and case as it was measured.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskLookup, measureCase, worktreeRoots } from '../../src/coordination/claims/lookup.ts'
import { findProject } from '../../src/paths.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'

test('files, folders, what does not exist, and links wherever they lead', () => {
  const root = temporaryFolder()
  const elsewhere = temporaryFolder()
  mkdirSync(join(root, 'src/lib'), { recursive: true })
  writeFileSync(join(root, 'src/a.ts'), '')
  symlinkSync('src/lib', join(root, 'inside'))
  symlinkSync(elsewhere, join(root, 'outside'))
  symlinkSync(join(elsewhere, 'not-yet'), join(root, 'dangling'))
  symlinkSync('src/not-yet', join(root, 'planned'))
  symlinkSync('loop', join(root, 'loop'))
  const lookup = diskLookup(root)
  const look = (path: string): ReturnType<typeof lookup.look> => lookup.look(path)
  expect(['src/a.ts', 'src', 'src/lib/new/x.ts', 'inside/x.ts', 'planned', 'src/a.ts/x'].map(look)).toEqual([
    { kind: 'file', path: 'src/a.ts' },
    { kind: 'dir', path: 'src' },
    { kind: 'missing', path: 'src/lib/new/x.ts' },
    { kind: 'missing', path: 'src/lib/x.ts' },
    { kind: 'missing', path: 'src/not-yet' },
    { kind: 'missing', path: 'src/a.ts/x' },
  ])
  expect(['outside', 'outside/x', 'dangling', 'dangling/x'].map((path) => look(path).kind)).toEqual(
    Array(4).fill('outside'),
  )
  expect(look('loop').kind).toBe('missing')
})

test('all worktrees of a repository are its roots', () => {
  const project = temporaryProject()
  project.write('a', 'x')
  project.git('add', '.')
  project.git('commit', '-qm', 'begin')
  project.git('worktree', 'add', '-q', '../linked')
  const linked = join(project.root, '../linked')
  for (const cwd of [project.root, linked])
    expect(worktreeRoots(findProject(cwd, {})).toSorted()).toEqual([linked, project.root].toSorted())
})

test('case is measured on what is there, and on a probe where nothing is', () => {
  const root = temporaryFolder()
  expect(measureCase(findProject(root, {}))).toBe(true)
  writeFileSync(join(root, 'README'), '')
  expect(measureCase(findProject(root, {}))).toBe(true)
})
