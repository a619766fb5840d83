import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { configDir, contains, findProject, PLANNING_MARK, resolveInside, sessionsDir, stateDir } from './paths.ts'

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

  test('a linked worktree has its own root and shares the coordination folder', () => {
    const main = join(dir, 'main')
    mkdirSync(main)
    git(main, 'init')
    git(main, 'commit', '--allow-empty', '-m', 'x')
    git(main, 'worktree', 'add', join(dir, 'linked'))
    const linked = findProject(join(dir, 'linked'), {})
    expect(linked.root).toBe(join(dir, 'linked'))
    expect(linked.coordinationDir).toBe(join(main, '.git/heimdall'))
    expect(linked.planningDir).toBe(join(dir, 'linked/.planning'))
    // Made for an agent: it shares the planning root of the checkout that it was made from, while there is one.
    const mark = join(main, '.git/worktrees/linked', PLANNING_MARK)
    writeFileSync(mark, `${join(main, '.planning')}\n`)
    expect(findProject(join(dir, 'linked'), {}).planningDir).toBe(join(main, '.planning'))
    writeFileSync(mark, `${join(dir, 'gone/.planning')}\n`)
    expect(findProject(join(dir, 'linked'), {}).planningDir).toBe(join(dir, 'linked/.planning'))
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
