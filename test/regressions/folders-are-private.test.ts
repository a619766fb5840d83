// With a umask of 0, as some containers have it, folders and files of ours were open to everybody.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { fixture, launcher } from '../support/programs.ts'
import { spine } from '../spine/spine.ts'

test('what we make below a home is for its user alone, whatever the umask says', async () => {
  const project = spine()
  const commands = [
    [...launcher('heimdall'), 'shim', '--server-name=x', '--', ...fixture('shim-upstream')],
    [...launcher('heimdall'), 'run', '--agent', 'amber-otter', '--', 'true'],
    [...launcher('heimdall'), 'runs', 'reindex'],
    [...launcher('hm'), 'run', '--id', 'zz', '--', 'true'],
    // What a session has only while it lives.
    [...launcher('hm'), 'run', '--id', 'stays', '--detach', '--', 'sleep', '1000'],
  ]
  const script = `umask 0; ${commands.map((words) => `${words.join(' ')} </dev/null`).join('; ')}`
  execFileSync('/bin/sh', ['-c', script], {
    cwd: project.root,
    env: { ...project.env, PATH: process.env['PATH'] },
    stdio: 'ignore',
  })
  const local = join(project.home, '.local')
  const made = [local, ...readdirSync(local, { recursive: true }).map((name) => join(local, String(name)))]
  expect(made.length).toBeGreaterThan(10)
  expect(made.map((path) => basename(path))).toEqual(expect.arrayContaining(['stays.pid', 'stays.sock']))
  // The others are gone a moment after whoever waited for them, and their files with them.
  const open = made.flatMap((path) => {
    const seen = statSync(path, { throwIfNoEntry: false })
    return seen === undefined ? [] : [{ path, mode: (seen.mode & 0o777).toString(8) }]
  })
  expect(open.filter(({ mode }) => !mode.endsWith('00'))).toEqual([])
})
