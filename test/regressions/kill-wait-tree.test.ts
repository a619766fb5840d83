// `hm kill --wait` returned on the child's end, while processes that the child had left behind were still running.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { sh, start, type TestSession } from '../supervisor/support/session.ts'
import { descendants, isRunning } from '../support/programs.ts'

/** The child ends on SIGTERM; what it started in the background ignores everything up to SIGKILL. */
const LEAVES_ONE = 'trap "" TERM HUP; sleep 1000 & trap - TERM HUP; echo ready; exec sleep 1001'

async function treeOf(session: TestSession): Promise<number[]> {
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('ready')
  client.close()
  const tree = descendants(session.supervisor_pid)
  expect(tree.length).toBeGreaterThanOrEqual(2)
  return tree
}

test('kill --wait returns when the supervisor and everything below it is gone', async () => {
  const session = await start(sh(LEAVES_ONE), { graceMs: 500 })
  const tree = await treeOf(session)
  const { code, stdout } = await hm().run(['kill', 't', '--wait', '--socket-dir', session.dir])
  expect([session.supervisor_pid, ...tree].filter(isRunning)).toEqual([])
  expect([code, stdout]).toEqual([0, 'Session t ended with exit code 143\n'])
})

test('kill --wait gives up at its timeout while part of the tree is left', async () => {
  const session = await start(sh(LEAVES_ONE), { graceMs: 600_000 })
  const tree = await treeOf(session)
  const { code, stderr } = await hm().run(['kill', 't', '--wait', '--timeout', '300ms', '--socket-dir', session.dir])
  expect([code, stderr]).toEqual([6, expect.stringContaining('did not end in time') as string])
  expect(tree.some(isRunning)).toBe(true)
})
