// A viewer that was connected when the session stopped answering was cut off: on a busy machine `hm run -- true` ended
// with "the connection to the session was closed" and 1, and showed nothing of a short command's output.
import { expect, test } from 'vitest'
import { EXIT_LINGER_MS } from '../../src/limits.ts'
import { waitForFile } from '../support/wait.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { sh, start } from '../supervisor/support/session.ts'

test('who is connected when a session ends may take a second to say what it wants, and still gets output and exit', async () => {
  const session = await start(sh('read go; echo last words; exit 6'), { stallMs: 60_000 })
  const late = await session.connect()
  await late.status()
  const other = await session.connect()
  other.type('\n')
  await waitForFile(sessionPaths(session.dir, 't').exit)
  // The time in which a session answers anybody goes by.
  const endMs = performance.now() + EXIT_LINGER_MS + 500
  while (performance.now() < endMs) await late.status()
  let text = ''
  late.onOutput = (bytes) => {
    text += bytes.toString('utf8')
  }
  late.subscribe()
  expect(await late.exit()).toBe(6)
  expect(text).toContain('last words')
})
