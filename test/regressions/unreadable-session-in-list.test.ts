// One session whose files cannot be read must not hide the others of its folder.
import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listSessions } from '../../src/sessions/session-files.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { hm } from '../hm/hm.ts'
import { start } from '../supervisor/support/session.ts'

test('what is in the place of a record or of a pid file is listed as unreadable, and the rest as ever', async () => {
  const session = await start(['cat'])
  mkdirSync(sessionPaths(session.dir, 't').exit)
  mkdirSync(sessionPaths(session.dir, 'folder').exit)
  mkdirSync(sessionPaths(session.dir, 'holder').pid)
  symlinkSync('/etc/passwd', sessionPaths(session.dir, 'link').exit)
  writeFileSync(sessionPaths(session.dir, 'stray').socket, '')
  expect(listSessions(session.dir).map(({ id, state }) => `${id} ${state}`)).toEqual([
    'folder unreadable',
    'holder unreadable',
    'link unreadable',
    'stray lost',
    't running',
  ])
  const { code, stdout } = await hm().run(['ls', '--all', '--json', '--socket-dir', session.dir])
  const { data } = JSON.parse(stdout) as { data: { sessions: { id: string; alive: boolean }[] } }
  expect(code).toBe(0)
  expect(data.sessions.map(({ id, alive }) => [id, alive])).toContainEqual(['t', true])
  expect(data.sessions).toHaveLength(5)
  rmdirSync(sessionPaths(session.dir, 't').exit)
})
