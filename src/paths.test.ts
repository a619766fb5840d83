import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { configDir, contains, findProject, resolveInside, sessionsDir, stateDir } from './paths.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'heimdall-paths-')))
})

const git = (cwd: string, ...args: string[]): void => {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd, stdio: 'ignore' })
}

describe('findProject', () => {
  test('is the git top level from any folder below it', () => {
    git(dir, 'init')
    mkdirSync(join(dir, 'a/b'), { recursive: true })
    expect(findProject(join(dir, 'a/b'), {})).toEqual({
      root: dir,
      gitCommonDir: join(dir, '.git'),
      planningDir: join(dir, '.planning'),
      coordinationDir: join(dir, '.git/heimdall'),
    })
  })

  test('a linked worktree has its own root and shares the coordination and planning folders', () => {
    const main = join(dir, 'main')
    mkdirSync(main)
    git(main, 'init')
    git(main, 'commit', '--allow-empty', '-m', 'x')
    git(main, 'worktree', 'add', join(dir, 'linked'))
    const linked = findProject(join(dir, 'linked'), {})
    expect(linked.root).toBe(join(dir, 'linked'))
    expect(linked.coordinationDir).toBe(join(main, '.git/heimdall'))
    expect(linked.planningDir).toBe(join(main, '.planning'))
    git(dir, 'clone', '--bare', main, join(dir, 'bare'))
    git(join(dir, 'bare'), 'worktree', 'add', '-b', 'other', join(dir, 'of-bare'))
    expect(findProject(join(dir, 'of-bare'), {}).planningDir).toBe(join(dir, 'bare/.planning'))
    git(main, '-c', 'protocol.file.allow=always', 'submodule', 'add', join(dir, 'bare'), 'sub')
    git(join(main, 'sub'), 'worktree', 'add', '-b', 'third', join(dir, 'of-sub'))
    expect(findProject(join(dir, 'of-sub'), {}).planningDir).toBe(join(main, 'sub/.planning'))
    expect(findProject(join(main, 'sub'), {}).planningDir).toBe(join(main, 'sub/.planning'))
  })

  test('the usual planning folder, named by HEIMDALL_PLANNING_DIR, is no island: its store is in the git folder', () => {
    git(dir, 'init')
    expect(findProject(dir, { HEIMDALL_PLANNING_DIR: '.planning' })).toEqual(findProject(dir, {}))
  })

  test('a store that is older than the repository is found where it is; one that came with its files is not used', () => {
    const before = join(dir, '.planning/.heimdall')
    mkdirSync(before, { recursive: true })
    writeFileSync(join(before, 'coordination.db'), 'older')
    expect(findProject(dir, {}).coordinationDir).toBe(before)
    git(dir, 'init')
    expect(findProject(dir, {}).coordinationDir).toBe(before)
    renameSync(before, join(dir, '.git/heimdall'))
    expect(findProject(dir, {}).coordinationDir).toBe(join(dir, '.git/heimdall'))
    const cloned = join(dir, 'cloned')
    git(dir, 'init', cloned)
    mkdirSync(join(cloned, '.planning/.heimdall'), { recursive: true })
    writeFileSync(join(cloned, '.planning/.heimdall/coordination.db'), 'brought')
    expect(findProject(cloned, {}).coordinationDir).toBe(join(cloned, '.git/heimdall'))
    expect(existsSync(join(cloned, '.git/heimdall'))).toBe(false)
  })

  test('without git the folder itself, its state under .planning', () => {
    expect(findProject(dir, {})).toMatchObject({
      root: dir,
      gitCommonDir: undefined,
      coordinationDir: join(dir, '.planning/.heimdall'),
    })
  })

  test('HEIMDALL_PLANNING_DIR makes an island (seed 000: override of the planning root)', () => {
    git(dir, 'init')
    const island = join(dir, 'fixture')
    expect(findProject(dir, { HEIMDALL_PLANNING_DIR: island })).toMatchObject({
      planningDir: island,
      coordinationDir: join(island, '.heimdall'),
    })
  })
})

describe('resolveInside', () => {
  test('follows links that stay inside and refuses those that leave', () => {
    mkdirSync(join(dir, 'root/real'), { recursive: true })
    const root = join(dir, 'root')
    writeFileSync(join(dir, 'secret'), '')
    symlinkSync(join(root, 'real'), join(root, 'inner'))
    symlinkSync(dir, join(root, 'out'))
    expect(resolveInside(root, 'inner/new.txt')).toBe(join(root, 'real/new.txt'))
    for (const path of ['out/secret', 'out/not-there-yet', '../secret', '/etc/passwd', `${root}-other`, 'a\0b'])
      expect(() => resolveInside(root, path), path).toThrow(/leads out of/)
  })

  test('whatever is typed, the answer is inside the root or a refusal', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', 'a', '', 'b c', '~', '...'), { maxLength: 8 }), (segments) => {
        try {
          expect(contains(dir, resolveInside(dir, segments.join('/')))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'PATH_OUTSIDE_ROOT' })
        }
      }),
    )
  })
})

test('XDG folders: a relative value is ignored, as their specification asks', () => {
  expect(stateDir({ HOME: '/h', XDG_STATE_HOME: '/s' })).toBe('/s/heimdall')
  expect(stateDir({ HOME: '/h', XDG_STATE_HOME: 'relative' })).toBe('/h/.local/state/heimdall')
  expect(configDir({ HOME: '/h' })).toBe('/h/.config/heimdall')
  expect(sessionsDir({ HOME: '/h', XDG_DATA_HOME: '/elsewhere' })).toBe('/h/.local/share/heimdall/sessions')
  expect(() => stateDir({})).toThrow(/HOME/)
})
