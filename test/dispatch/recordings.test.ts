// What real hosts stream for a dispatched task, recorded by `npm run test:hosts`: read as a result, whole and byte by byte.
import { expect, test } from 'vitest'
import { FrameLines } from '../../src/dispatch/runner/runtime-lines.ts'
import { resultOfTurn } from '../../src/dispatch/runner/turn-result.ts'
import { RUNTIMES } from '../../src/dispatch/runner/runtime.ts'
import { recording } from '../support/hosts/recordings.ts'

const ORDER = {
  v: 1,
  taskId: 'T-1',
  attempt: 1,
  command: [],
  prompt: '',
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
} as const

test.each(['claude', 'codex'] as const)('%s: the final frame is the result, and its counts are the usage', (host) => {
  const bytes = Buffer.from(recording(host, 'dispatch-frames.jsonl'))
  const read = (pieces: readonly Buffer[]) => {
    const lines = new FrameLines()
    const turn = RUNTIMES[host].turn()
    for (const piece of pieces) for (const frame of lines.push(piece)) turn.frame(frame)
    const end = turn.end()
    if (end === undefined) throw new Error('no final frame')
    const conversation = {
      usage: turn.usage(),
      spent: turn.spent(),
      toolCalls: turn.counts().toolCalls,
      denied: end.denied,
    }
    return resultOfTurn({ ...ORDER, runtime: host }, end, conversation, undefined)
  }
  const whole = read([bytes])
  expect(whole).toMatchObject({
    status: 'done',
    reply: 'done with it',
    source: 'runtime',
    usage: { source: 'runtime', output: 60, cache_read: 4_000 },
  })
  expect(whole.tokens_spent).toBe(460)
  expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(whole)
  // Cut before its end, there is no result, whatever the text says.
  expect(() => read([bytes.subarray(0, bytes.indexOf('done with it'))])).toThrow('no final frame')
})
