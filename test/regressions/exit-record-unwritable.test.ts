// An exit record that cannot be written must not keep the supervisor from telling its clients and ending.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { type Client, sh, start, type TestSession } from '../supervisor/support/session.ts'
import { temporaryFolder } from '../support/project.ts'

async function waiting(logFile: string): Promise<[TestSession, Client]> {
  const session = await start(sh('read line; exit 5'), { logFile })
  const client = await session.connect()
  client.subscribe()
  return [session, client]
}

test.each([
  ['the folder of the session is gone', (dir: string) => rmSync(dir, { recursive: true })],
  ['a folder is in the place of the record', (dir: string) => mkdirSync(sessionPaths(dir, 't').exit)],
])('the session ends with EXIT and a line in its log when %s', async (_, spoil) => {
  const log = join(temporaryFolder(), 'log')
  const [session, client] = await waiting(log)
  spoil(session.dir)
  client.type('\n')
  expect(await client.exit()).toBe(5)
  await session.gone()
  rmSync(session.dir, { recursive: true, force: true })
  expect(readFileSync(log, 'utf8')).toMatch(/ error session no exit record: /)
})
