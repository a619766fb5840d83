// A folder in the place of a session's file stopped `hm clean`, and a start that failed over one left its pid file behind.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm, type Hm } from '../hm/hm.ts'

function withFolders(...names: string[]): Hm {
  const home = hm()
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  for (const name of names) mkdirSync(join(home.dir, name))
  return home
}

const CLEAN = ['clean', '--force', '--older-than', '0s']

test('clean removes what is there to remove, and leaves folders whatever their name', async () => {
  const folders = ['a.sock', 'b.exit.json', 'c.log', 'd.pid', 'e.kept']
  const home = withFolders(...folders)
  for (const name of ['a.log', 'z.log', 'z.kept']) writeFileSync(join(home.dir, name), '')
  const { code, stderr, stdout } = await home.run(CLEAN)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('Cleaned 1 log file(s), 1 other file(s)')
  expect(readdirSync(home.dir).sort()).toEqual(['a.log', ...folders].sort())
})

test('one lost session that cannot be settled keeps no other from it', async () => {
  const home = withFolders('a.sock')
  for (const id of ['a', 'b']) writeFileSync(join(home.dir, `${id}.pid`), '999999999\n0\nsupervisor_start 1\n')
  const { code, stderr } = await home.run(CLEAN)
  expect(stderr).toContain(`error: cannot use ${join(home.dir, 'a.sock')}: it is a folder\nhint: `)
  expect(code).toBe(8)
  expect(existsSync(join(home.dir, 'b.pid'))).toBe(false)
})

test.each(['x.sock', 'x.exit.json', 'x.kept'])(
  'a start over a folder %s is refused and leaves nothing behind',
  async (name) => {
    const home = withFolders(name)
    const { code, stderr } = await home.run(['run', '--id', 'x', '--detach', '--', 'sleep', '1000'])
    expect([code, stderr]).toEqual([
      8,
      expect.stringContaining(`cannot use ${join(home.dir, name)}: it is a folder`) as string,
    ])
    expect(readdirSync(home.dir).filter((other) => other !== name && !other.endsWith('.lock'))).toEqual([])
  },
)
