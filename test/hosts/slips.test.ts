// A slip answers a hook without a look into the store. It never answers from a state that is older than the store's, whoever changed that.
import { readdirSync, readFileSync, utimesSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playHost, type PlayedHost } from '../support/played-host.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'

const edit = (path: string): object => ({
  tool_name: 'Edit',
  tool_input: { file_path: path, old_string: 'a', new_string: 'b' },
  tool_use_id: 'use-1',
})

async function asked(host: PlayedHost, path: string): Promise<string> {
  const { stdout, code } = await host.hook('PreToolUse', edit(path))
  expect(code).toBe(0)
  return stdout
}

/** Asked until a slip says that the path may pass. */
async function slipped(project: TemporaryProject, host: PlayedHost, path: string): Promise<void> {
  const dir = project.path('.git/heimdall/hosts')
  await until('a slip for the path', async () => {
    expect(await asked(host, path)).toBe('')
    const slips = readdirSync(dir).filter((name) => name.endsWith('.slip'))
    return slips.some((name) => readFileSync(join(dir, name), 'utf8').includes(JSON.stringify(path)))
  })
}

test('what another process has changed counts for the very next hook', async () => {
  const project = temporaryProject()
  const path = project.write('src/own.ts', 'x\n')
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  const host = playHost(project)
  await host.hook('SessionStart')
  const change = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await project.run('bb', [
      'agent',
      ...args,
      '--agent',
      'amber-otter',
      '--scope',
      'src/own.ts',
    ])
    expect({ code, stderr }).toMatchObject({ code: 0 })
  }
  for (let round = 0; round < scaled(2, 30); round += 1) {
    await slipped(project, host, path)
    expect((await host.run('heimdall', ['claim', 'release', 'src/own.ts'])).code).toBe(0)
    await change('reserve', '--bead', `T-${round}`)
    expect(await asked(host, path)).toContain('held by amber-otter')
    await change('release')
  }
  // Somebody who puts a copy of the store in its place, with the times that it had.
  await slipped(project, host, path)
  const store = project.path('.git/heimdall/coordination.db')
  const { atime, mtime } = statSync(store)
  expect((await host.run('heimdall', ['claim', 'release', 'src/own.ts'])).code).toBe(0)
  await change('reserve', '--bead', 'T-last')
  utimesSync(store, atime, mtime)
  expect(await asked(host, path)).toContain('held by amber-otter')
})

test('a slip that is cut, or of another machine’s start, says nothing', async () => {
  const project = temporaryProject()
  const path = project.write('src/own.ts', 'x\n')
  const host = playHost(project)
  await host.hook('SessionStart')
  await slipped(project, host, path)
  const dir = project.path('.git/heimdall/hosts')
  const name = readdirSync(dir).find((one) => one.endsWith('.slip')) ?? ''
  const slip = readFileSync(join(dir, name), 'utf8')
  const free = project.write('src/free.ts', 'x\n')
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  await project.run('heimdall', ['claim', 'src/free.ts', '--agent', 'amber-otter'])
  // Whoever forges one has the paths, and not the state that it was made from.
  for (const text of [
    slip.slice(0, 40),
    '{}',
    'null',
    '[]',
    slip.replace(/"paths":\{[^}]*\}/, '"paths":null'),
    slip.replaceAll('own.ts', 'free.ts'),
  ]) {
    project.write(`.git/heimdall/hosts/${name}`, text)
    expect(await asked(host, free)).toContain('held by amber-otter')
  }
})
