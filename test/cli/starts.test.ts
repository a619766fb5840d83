// What a start loads: commands that are asked over and over load neither what Node takes long to load nor an addon that they do not need.
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, runProgram } from '../support/programs.ts'
import { spine, type Spine } from '../spine/spine.ts'

/** Each takes Node longer to load than a look at ten agents takes. */
const SLOW = ['node:child_process', 'node:crypto', 'node:http', 'node:net', 'node:stream', 'node:tty']

async function loadedBy(
  project: Spine,
  bin: string,
  args: readonly string[],
): Promise<{ slow: string[]; addons: string[] }> {
  const list = join(project.home, 'loaded-modules')
  const [node, ...rest] = launcher(bin)
  const { code, stderr } = await runProgram(
    [node, '--require', resolve('test/fixtures/loaded-modules.cjs'), ...rest, ...args],
    { cwd: project.root, env: { ...project.env, LOADED_MODULES: list } },
  )
  expect([stderr, code]).toEqual(['', 0])
  const loaded = readFileSync(list, 'utf8').split('\n')
  return {
    slow: loaded.filter((name) => SLOW.includes(name)),
    addons: loaded.filter((name) => name.endsWith('.node')).map((path) => basename(path)),
  }
}

test('the version, a look at the fleet, a check of a free path and a session’s state load nothing slow', async () => {
  const project = spine()
  await project.detached('amber-otter', ['cat'])
  const sqlite = [expect.stringContaining('sqlite')]
  expect(await loadedBy(project, 'heimdall', ['--version'])).toEqual({ slow: [], addons: [] })
  expect(await loadedBy(project, 'heimdall', ['status'])).toEqual({ slow: [], addons: sqlite })
  expect(await loadedBy(project, 'heimdall', ['claim', 'check', 'src/a.ts'])).toEqual({ slow: [], addons: sqlite })
  // It asks the session itself, over a socket.
  expect(await loadedBy(project, 'hm', ['status', 'amber-otter'])).toEqual({
    slow: ['node:stream', 'node:net'],
    addons: [],
  })
})
