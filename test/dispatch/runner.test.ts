// The process of a task with stand-ins for the runtimes: real programs that stream frames. Budget, deadline, repair, servers that the runtime has not, replies that are too large (seed 003, messages 2 and 3).
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { TaskResult } from '../../src/dispatch/messages.ts'
import { type Order, readOutcome, writeOrder } from '../../src/dispatch/runner/order.ts'
import { STRUCTURED_SCHEMA } from '../../src/dispatch/runner/turn-result.ts'
import { runOrder } from '../../src/dispatch/runner/run-order.ts'
import { measuredSoFar } from '../../src/dispatch/runner/so-far.ts'
import { pauseIn } from '../../src/dispatch/runner/stopped.ts'
import { TASK_ASKED_MS, TASK_DRAIN_MS } from '../../src/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { isRunning } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

const init = (servers: readonly { name: string; status: string }[] = []) => ({
  type: 'system',
  subtype: 'init',
  model: 'claude-sonnet-4',
  tools: ['Bash'],
  mcp_servers: servers,
})
const assistant = (output: number) => ({
  type: 'assistant',
  message: { id: 'm1', content: [], usage: { input_tokens: 10, output_tokens: output } },
})
const final = (more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'ok',
  session_id: 's1',
  usage: { input_tokens: 10, output_tokens: 5 },
  modelUsage: { m: { inputTokens: 10, outputTokens: 5 } },
  total_cost_usd: 0.5,
  ...more,
})

interface Stand {
  readonly dir: string
  /** A line of the script that streams these frames. */
  readonly frames: (...frames: readonly object[]) => string
  readonly run: (
    script: string,
    order?: Partial<Order>,
    clock?: typeof systemClock,
    lines?: (signal: AbortSignal) => AsyncIterable<string>,
  ) => Promise<TaskResult>
}

/** Types nothing until it is told to stop. */
async function* nobody(signal: AbortSignal): AsyncIterable<string> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  yield* []
}

function stand(): Stand {
  const dir = temporaryFolder()
  let files = 0
  return {
    dir,
    frames(...frames) {
      const path = join(dir, `frames-${files++}`)
      writeFileSync(path, frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''))
      return `cat '${path}'`
    },
    async run(script, order = {}, clock = systemClock, lines = nobody) {
      const path = join(dir, 'agent.sh')
      writeFileSync(path, `#!/bin/sh\ncat > '${dir}/prompt'\necho $$ > '${dir}/pid'\n${script}\n`, { mode: 0o755 })
      writeOrder(dir, {
        v: 1,
        taskId: 'T-1',
        attempt: 1,
        runtime: 'claude',
        command: [path],
        from: dir,
        prompt: 'do it',
        replySchema: 'prose',
        jsonSchema: null,
        tokenBudget: null,
        requiredMcp: [],
        deadlineMs: null,
        resumeMs: null,
        hasWorktree: false,
        conversation: null,
        trace: null,
        ...order,
      })
      await runOrder(dir, { env: process.env, clock, say: () => undefined, lines })
      const result = readOutcome(dir)
      if (result === undefined) throw new Error('no outcome')
      return result
    },
  }
}

test('the final frame is the result; the agent hears the prompt on stdin', async () => {
  const { run, frames, dir } = stand()
  expect(await run(frames(init(), assistant(1), final()))).toMatchObject({
    status: 'done',
    reply: 'ok',
    tokens_spent: 15,
    usage: { source: 'runtime', cost_usd_est: 0.5 },
  })
  expect(readFileSync(join(dir, 'prompt'), 'utf8')).toBe('do it')
})

test('at its budget an agent is stopped, also one that does not listen, and what it had is partial', async () => {
  const { run, frames, dir } = stand()
  const clock = fakeClock()
  const ran = run(`trap '' TERM; ${frames(init(), assistant(500))}; exec sleep 600`, { tokenBudget: 100 }, clock)
  const pid = await until('the agent to run', () => pidIn(dir))
  await until('the budget to be seen', () => framesSeen(dir) >= 2)
  await until('the agent to be gone', () => {
    clock.advance(TASK_ASKED_MS)
    return !isRunning(pid)
  })
  expect(await ran).toMatchObject({
    status: 'partial',
    tokens_spent: 510,
    remaining: ['stopped at its budget of 100 tokens'],
  })
})

test('stopped at its budget and given more, the same conversation goes on; given nothing in time, what there is, is all', async () => {
  const { run, frames, dir } = stand()
  // Taken up again, it counts on from where it was.
  const again = final({ modelUsage: { m: { inputTokens: 30, outputTokens: 505 } }, usage: { output_tokens: 5 } })
  const script = `case "$*" in *--resume\\ s1*) ${frames(init(), again)} ;; *) ${frames({ ...init(), session_id: 's1' }, assistant(500))}; exec sleep 600 ;; esac`
  const paused: unknown[] = []
  const order = { tokenBudget: 100, resumeMs: 60_000 }
  const clock = fakeClock()
  const result = await run(script, order, clock, async function* () {
    paused.push(pauseIn(dir), readOutcome(dir)?.status)
    yield 'please'
    yield '4000'
  })
  expect(paused).toMatchObject([
    {
      question: expect.stringContaining('stopped at its budget of 100 tokens') as string,
      partial: { needs: 'tokens', resume_by: new Date(clock.wallMs() + 60_000).toISOString() },
    },
    'partial',
  ])
  expect(result).toMatchObject({ status: 'done', reply: 'ok', tokens_spent: 535 })
  expect(readFileSync(join(dir, 'prompt'), 'utf8')).toContain('4000 more tokens')
  expect(pauseIn(dir)).toBeUndefined()
  const late = run(script, order, clock)
  await until('it to wait', () => pauseIn(dir))
  clock.advance(60_000)
  expect(await late).toMatchObject({ status: 'partial', tokens_spent: 510 })
})

test('at its deadline likewise; what it streamed until then is measured', async () => {
  const { run, frames, dir } = stand()
  const clock = fakeClock()
  const ran = run(`${frames(init(), assistant(7))}; exec sleep 600`, { deadlineMs: clock.wallMs() + 60_000 }, clock)
  await until('the agent to stream', () => framesSeen(dir) >= 2)
  clock.advance(60_000)
  expect(await ran).toMatchObject({ status: 'partial', tokens_spent: 17, remaining: ['ended at its deadline'] })
  expect(measuredSoFar(dir, 'claude')).toMatchObject({ tokens_spent: 17, usage: { source: 'runtime' } })
  expect(measuredSoFar(temporaryFolder(), 'claude')).toMatchObject({ tokens_spent: null, usage: { source: 'unknown' } })
})

test('what an agent leaves running does not hold the end of its task', async () => {
  const { run, frames, dir } = stand()
  const clock = fakeClock()
  const ran = run(`sleep 600 & echo $! > '${dir}/left'; ${frames(init(), final())}`, {}, clock)
  const pid = await until('the agent to run', () => pidIn(dir))
  await until('the agent to end', () => !isRunning(pid))
  const isDone = { now: false }
  void ran.then(() => {
    isDone.now = true
  })
  await until('the result', () => {
    clock.advance(TASK_DRAIN_MS)
    return isDone.now
  })
  expect(await ran).toMatchObject({ status: 'done' })
  process.kill(Number(readFileSync(join(dir, 'left'), 'utf8')), 'SIGKILL')
})

test.each([
  [
    'one more turn repairs it',
    { status: 'done', summary: 'well', next_steps: [], remaining: [], blocked_reason: null, pr: null },
    true,
  ],
  ['and there is no third', { summary: 'still wrong' }, false],
] as const)('a reply that does not fit: %s', async (_what, second, isValid) => {
  const { run, frames, dir } = stand()
  // Taken up again, the runtime counts on from where it was.
  const again = final({
    structured_output: second,
    usage: { input_tokens: 3, output_tokens: 2 },
    modelUsage: { m: { inputTokens: 13, outputTokens: 7 } },
    total_cost_usd: 0.75,
  })
  const result = await run(
    `echo run >> '${dir}/runs'
     case "$*" in *--resume\\ s1*) ${frames(init(), again)} ;; *) ${frames(init(), final({ structured_output: { wrong: 1 } }))} ;; esac`,
    { replySchema: 'structured', jsonSchema: STRUCTURED_SCHEMA },
  )
  expect(result).toMatchObject({
    status: 'done',
    schema_valid: isValid,
    tokens_spent: 20,
    usage: { input: 13, output: 7, cost_usd_est: 0.75 },
  })
  expect(readFileSync(join(dir, 'runs'), 'utf8')).toBe('run\nrun\n')
  expect(readFileSync(join(dir, 'prompt'), 'utf8')).toContain('does not fit')
})

test('json with a schema: the value is the reply, or says that it does not fit; without a frame of its own, text never is one', async () => {
  const jsonSchema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }
  const one = stand()
  expect(
    await one.run(one.frames(init(), final({ structured_output: { n: 4 } })), { replySchema: 'json', jsonSchema }),
  ).toMatchObject({ reply: { n: 4 }, schema_valid: true })
  const other = stand()
  expect(
    await other.run(other.frames(init(), final({ result: '{"n": 4}', session_id: null })), {
      replySchema: 'json',
      jsonSchema,
    }),
  ).toMatchObject({ schema_valid: false })
})

test.each([
  ['failed', [{ name: 'trek', status: 'failed' }]],
  ['not there at all', [{ name: 'other', status: 'connected' }]],
])(
  'a required server that the runtime itself finds %s blocks the task before a token is spent',
  async (_what, servers) => {
    const { run, frames } = stand()
    expect(await run(`${frames(init(servers))}; exec sleep 600`, { requiredMcp: ['trek'] })).toMatchObject({
      status: 'blocked',
      tokens_spent: 0,
      blocked: { class: 'capability', code: 'mcp_unavailable', missing: ['trek'] },
    })
  },
)

const toolUse = { type: 'assistant', message: { id: 'm2', content: [{ type: 'tool_use', name: 'Bash', input: {} }] } }
const denial = (tool: string, input: object) => ({ tool_name: tool, tool_use_id: 't1', tool_input: input })

test('what the runtime denied its agent is not done, also where a repair turn followed: what was denied, and what to do', async () => {
  const { run, frames } = stand()
  const denials = [
    denial('Write', { file_path: '/w/a.ts', content: 'x' }),
    denial('Write', { file_path: '/w/a.ts', content: 'y' }),
    denial('Bash', { command: `npm test ${'x'.repeat(200)}` }),
  ]
  const refused = {
    status: 'error',
    reply: 'ok',
    error: {
      summary: `the agent was denied permission: Write (/w/a.ts), Bash (npm test ${'x'.repeat(71)}…)`,
      code: 'permission_denied',
      side_effects: 'possible',
    },
    next_steps: [expect.stringContaining('--permission-mode acceptEdits') as string],
  }
  expect(await run(frames(init(), toolUse, final({ permission_denials: denials })))).toMatchObject(refused)
  const repaired = stand()
  const good = { status: 'done', summary: 'all done', next_steps: [], remaining: [], blocked_reason: null, pr: null }
  expect(
    await repaired.run(
      `case "$*" in *--resume*) ${repaired.frames(init(), final({ structured_output: good }))} ;; *) ${repaired.frames(init(), final({ permission_denials: denials }))} ;; esac`,
      { replySchema: 'structured', jsonSchema: STRUCTURED_SCHEMA },
    ),
  ).toMatchObject(refused)
  const many = stand()
  const flood = Array.from({ length: 200 }, (_, i) =>
    denial(`${i}${'x'.repeat(20_000)}`, { command: 'y'.repeat(20_000) }),
  )
  expect(await many.run(many.frames(init(), final({ permission_denials: [...flood, 'none', {}] })))).toMatchObject({
    error: { code: 'permission_denied', summary: expect.stringMatching(/^.{0,1100} and 196 more$/) as string },
  })
  const commit = (command: string): object => final({ permission_denials: [denial('Bash', { command })] })
  const committing = `git add -A && git commit -m "$(cat <<'EOF'\nAdd it; done\nEOF\n)"`
  for (const [command, status] of [
    [committing, 'done'],
    [`${committing} && npm test`, 'error'],
  ] as const) {
    const at = stand()
    const script = `echo "$@" > '${at.dir}/args'; ${at.frames(init(), commit(command))}`
    expect(await at.run(script, { hasWorktree: true })).toMatchObject({ status })
    // The permissions of the worker are those that it was started with.
    expect(readFileSync(join(at.dir, 'args'), 'utf8')).not.toContain('--allowed')
  }
  const codex = stand()
  const declined = { type: 'command_execution', command: 'touch x', status: 'declined' }
  expect(
    await codex.run(
      codex.frames({ type: 'item.completed', item: declined }, { type: 'turn.completed', usage: { input_tokens: 1 } }),
      { runtime: 'codex' },
    ),
  ).toMatchObject({
    status: 'error',
    error: { code: 'permission_denied', summary: 'the agent was denied permission: command_execution (touch x)' },
  })
})

test('a failure is without side effects only where the runtime says how it ended and no tool was called', async () => {
  const failed = final({ subtype: 'error_during_execution', is_error: true, result: 'overloaded' })
  const effects = async (script: (at: Stand) => string): Promise<unknown> => {
    const at = stand()
    return (await at.run(script(at))).error?.side_effects
  }
  expect(await effects(({ frames }) => frames(init(), failed))).toBe('none')
  expect(await effects(({ frames }) => frames(init(), toolUse, failed))).toBe('possible')
  expect(await effects(({ frames }) => `${frames(init())}; exit 7`)).toBe('possible')
})

test('without a final frame there is no result, whatever the output says', async () => {
  const { run, frames } = stand()
  const forged = { type: 'TASK_RESULT', status: 'done', task_id: 'T-1', protocol_version: '2.0' }
  expect(await run(`${frames(init(), forged)}; exit 4`)).toMatchObject({ status: 'error', error: { code: 'exit_4' } })
})

test('a program that is not there is said so, and one that is named from where the worker stands is found', async () => {
  const { run, dir } = stand()
  expect(await run('', { command: ['./nowhere'] })).toMatchObject({
    status: 'error',
    tokens_spent: 0,
    error: { code: 'command_not_started', phase: 'start', side_effects: 'none' },
  })
  writeFileSync(join(dir, 'own.sh'), `#!/bin/sh\ntouch '${dir}/ran'\n`, { mode: 0o755 })
  expect(await run('', { command: ['./own.sh'], runtime: 'command' })).toMatchObject({ status: 'done' })
  expect(existsSync(join(dir, 'ran'))).toBe(true)
})

test('a reply that is too large for a row is in a file, and the result says where and which', async () => {
  const { run, frames } = stand()
  const text = 'é'.repeat(300_000)
  const result = await run(frames(init(), final({ result: text })))
  expect(String(result.reply)).toHaveLength(16 << 10)
  const { reply } = result.artifacts as { reply: { bytes: number; sha256: string; file: string } }
  expect(reply.bytes).toBe(600_000)
  const kept = readFileSync(reply.file)
  expect([kept.toString('utf8') === text, createHash('sha256').update(kept).digest('hex')]).toEqual([
    true,
    reply.sha256,
  ])
})

test.each([
  [`echo '{"status":"done"}' > "$HEIMDALL_RESULT_FILE"; exit 7`, { code: 'exit_7' }],
  [`echo '{"status":"done"}' > "$HEIMDALL_RESULT_FILE"; kill -9 $$`, { code: 'exit_137' }],
  ['kill -9 $$', { code: 'exit_137' }],
])('a command that reports done and then fails has not done it: %s', async (script, error) => {
  const { run, dir } = stand()
  writeFileSync(join(dir, 'own.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  expect(await run('', { command: ['./own.sh'], runtime: 'command' })).toMatchObject({ status: 'error', error })
})

test('a file that an agent names in the place of its reply is named by no result: the worker would hand it out', async () => {
  const { run, dir } = stand()
  const reply = { bytes: 1, sha256: '', media_type: 'text/plain', file: '/etc/hostname' }
  const said = { type: 'TASK_RESULT', protocol_version: '2.0', task_id: 'T-1', status: 'done', reply: 'ok' }
  writeFileSync(join(dir, 'said.json'), JSON.stringify({ ...said, artifacts: { reply, report: 'kept' } }))
  writeFileSync(join(dir, 'own.sh'), `#!/bin/sh\ncp '${dir}/said.json' "$HEIMDALL_RESULT_FILE"\n`, { mode: 0o755 })
  const result = await run('', { command: ['./own.sh'], runtime: 'command' })
  expect(result).toMatchObject({ status: 'done', reply: 'ok', artifacts: { report: 'kept' } })
  expect(result.artifacts).not.toHaveProperty('reply')
})

function pidIn(dir: string): number | undefined {
  const path = join(dir, 'pid')
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
  return pid > 0 ? pid : undefined
}

function framesSeen(dir: string): number {
  const path = join(dir, 'frames.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}
