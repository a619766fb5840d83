// The session of a task ends as its command did: whoever looks at either reads the same number.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { readOutcome, writeOrder } from '../../src/dispatch/runner/order.ts'
import { runOrder } from '../../src/dispatch/runner/run-order.ts'
import { temporaryFolder } from '../support/project.ts'

test('a command that ends with 3 ends its session with 3, and its result says so', async () => {
  const dir = temporaryFolder()
  writeOrder(dir, {
    v: 1,
    taskId: 'T-1',
    attempt: 1,
    runtime: 'command',
    command: ['sh', '-c', 'exit 3'],
    prompt: 'x',
    replySchema: 'prose',
    jsonSchema: null,
    tokenBudget: null,
    from: '/',
    requiredMcp: [],
    deadlineMs: null,
    resumeMs: null,
    hasWorktree: false,
    conversation: null,
    trace: null,
  })
  const how = { env: process.env, clock: systemClock, say: () => undefined, lines: async function* () {} }
  expect(await runOrder(dir, how)).toBe(3)
  expect(readOutcome(dir)).toMatchObject({ status: 'error', error: { code: 'exit_3' } })
})
