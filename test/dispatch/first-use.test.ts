// One command from an idea to a diff: a worker is offered and remembered, queued tasks are brought to it, and the result says what to do next.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { addressFile, DONE, fleet } from './dispatch-kit.ts'

// It starts a dozen processes one after the other.
vi.setConfig({ testTimeout: 300_000 })

const said = (content: object) =>
  JSON.stringify({
    type: 'assistant',
    session_id: 's-1',
    message: { id: 'm-1', content: [content], usage: { input_tokens: 10, output_tokens: 5 } },
  })
const FINAL = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'Added the greeting.',
  session_id: 's-1',
  total_cost_usd: 0.02,
  usage: { input_tokens: 10, output_tokens: 5 },
})

/** Claude Code as a worker sees it: its arguments, a commit, and frames on stdout. */
const CLAUDE = `#!/bin/sh
echo "$@" >> "$HOME/claude-args"
name="$(cat | wc -c)"
echo hi > "hi-$name.txt"; git add .; git commit -qm greeting
echo '${said({ type: 'tool_use', id: 't-1', name: 'Write' })}'
echo '${FINAL}'
`

test('without a worker, task add asks which to start, starts it, waits, and names the next commands; the answer is remembered', async () => {
  const project = fleet()
  const bin = join(project.home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), CLAUDE)
  chmodSync(join(bin, 'claude'), 0o755)
  const env = { ...project.env, PATH: `${bin}:${process.env['PATH']}` }
  // The worker outlives the command, and must not keep the pipes of the test's terminal open.
  const closing = ['sh', '-c', 'exec "$@" 3>&- 4>&-', 'sh']
  const command = [...launcher('heimdall'), 'task', 'add', 'Add a greeting', '--id', 'T-1', '--wait']
  const terminal = ownTerminal([...closing, ...command], { cwd: project.root, env })
  await terminal.see('No worker runs here. Start one?')
  terminal.type('1\n')
  await terminal.see('What may Claude Code do without asking?')
  terminal.type('\n')
  await terminal.see('How many tasks at a time?')
  terminal.type('2\n')
  expect(await terminal.ended, terminal.written()).toBe(0)
  const shown = terminal.written()
  expect(shown).toContain('starting worker claude: claude --permission-mode acceptEdits')
  expect(shown).toContain('this command sends queued tasks to workers while it waits')
  expect(shown).toMatch(/T-1 is ready for review: Add a greeting/)
  expect(shown).toMatch(/1 turns, 1 tool calls, 15 tokens \(runtime\), about \$0\.02/)
  expect(shown).toContain('Added the greeting.')
  expect(shown).toContain('heimdall task merge T-1')
  expect(readFileSync(join(project.home, 'claude-args'), 'utf8')).toMatch(/^--permission-mode acceptEdits .*-p/)

  // The conversation goes on where it was.
  const reply = await project.run('heimdall', ['task', 'reply', 'T-1', 'louder', '--wait'])
  expect([reply.code, reply.stdout]).toEqual([0, expect.stringContaining('T-1 is ready for review')])
  expect(readFileSync(join(project.home, 'claude-args'), 'utf8')).toMatch(/--resume s-1\n$/)
  expect((await project.run('heimdall', ['task', 'merge', 'T-1'])).code).toBe(0)
  expect(project.git('show', '--stat', 'main')).toContain('hi-')

  const killWorker = (): void => {
    const { process: worker } = JSON.parse(readFileSync(addressFile(project.home, 'workers', 'claude'), 'utf8')) as {
      process: string
    }
    process.kill(Number(worker.split(' ')[1]), 'SIGKILL')
  }
  killWorker()
  // Not by an agent, or by any program that has no terminal.
  const unseen = await project.run('heimdall', ['task', 'add', 'Once more', '--id', 'T-2'], { env })
  expect(unseen.stderr).toContain('no worker is started: that needs a human at a terminal')
  expect(unseen.stderr).not.toContain('starting worker')
  const add = (id: string) => [...closing, ...launcher('heimdall'), 'task', 'add', 'Again', '--id', id]
  const again = ownTerminal([...add('T-3'), '--wait', '--timeout', '60s'], { cwd: project.root, env })
  expect(await again.ended, again.written()).toBe(0)
  expect(again.written()).toContain('starting worker claude: claude --permission-mode acceptEdits')
  expect(again.written()).toContain('T-3 is ready for review')

  // A worker that does not start leaves the task queued, and the command says so.
  killWorker()
  const choice = join(dirname(dirname(addressFile(project.home, 'workers', 'claude'))), 'worker-choice.json')
  writeFileSync(choice, JSON.stringify({ name: 'claude', slots: 1, command: ['no-such-agent'] }))
  const failed = ownTerminal(add('T-4'), { cwd: project.root, env })
  expect(await failed.ended, failed.written()).toBe(0)
  expect(failed.written()).toContain('warning: worker claude did not start')
  expect(failed.written()).toContain('T-4 is queued')
  expect(await project.json(['task', 'show', 'T-4'])).toMatchObject({ state: expect.stringMatching(/queued|parked/) })
})

test('--wait takes over when the process that sends tasks is killed, and explain says which one does', async () => {
  const project = fleet()
  await project.worker('w', `while [ ! -e "$HOME/go" ]; do sleep 0.05; done; ${DONE}`)
  const explain = async () => await project.json(['task', 'explain', '--read-only'])
  expect(await explain()).toMatchObject({ orchestrated_by: null })
  const alone = await project.run('heimdall', ['task', 'add', 'x', '--id', 'T-0', '--read-only'])
  expect(alone.stderr).toContain('no process sends queued tasks now: heimdall up')
  const serving = await project.serve()
  expect(await explain()).toMatchObject({ orchestrated_by: `heimdall worker serve (process ${serving.pid})` })
  await until('T-0 to run', async () => (await project.json(['task', 'show', 'T-0']))['state'] === 'in_progress')
  const waiting = project.send('x', ['--id', 'T-1', '--read-only'])
  await until('T-1 to be queued', async () => (await project.run('heimdall', ['task', 'list'])).stdout.includes('T-1'))
  serving.kill('SIGKILL')
  await serving.ended
  writeFileSync(join(project.home, 'go'), '')
  expect(await waiting).toMatchObject({ state: 'done', attempts: 1 })
  expect(await explain()).toMatchObject({ orchestrated_by: null })
})
