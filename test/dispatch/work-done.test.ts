// A task is done only when work was done, and what may have had side effects runs once unless a person or its contract says otherwise (seed 003, message 3).
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { DONE, fleet } from './dispatch-kit.ts'

const final = (more: object): string =>
  JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'I could not write.', ...more })

test('denied permissions, and no change without a reply, are not done', async () => {
  const project = fleet()
  const denied = { permission_denials: [{ tool_name: 'Write', tool_input: { file_path: 'a.txt' } }] }
  // Claude Code as a worker sees it: frames on stdout, and what it changed in the worktree.
  const script = [
    'case "$(cat)" in',
    `*half*) echo half > half.txt; echo '${final(denied)}' ;;`,
    `*denied*) echo '${final(denied)}' ;;`,
    `*silent*) echo '${final({ result: '' })}' ;;`,
    `*) echo '${final({ result: 'It is 42.' })}' ;;`,
    'esac',
  ].join('\n')
  await project.worker('claude', script, ['--runtime', 'claude', '--slots', '4'])
  await project.serve()
  const [refused, half, silent, answered, looked] = await Promise.all([
    project.run('heimdall', ['task', 'add', 'denied', '--id', 'T-1', '--wait']),
    project.send('half'),
    project.send('silent'),
    project.send('a question'),
    project.send('silent', ['--read-only']),
  ])
  expect(refused.code).toBe(1)
  expect(refused.stdout).toContain('T-1 is waiting for a human: denied: the agent was denied permission: Write (a.txt)')
  expect(refused.stdout).toContain('next: allow it when the worker is started')
  expect(refused.stdout).toContain('heimdall task retry T-1  sends it again')
  expect(half).toMatchObject({
    state: 'partial',
    result: {
      status: 'partial',
      blocked: null,
      remaining: ['the agent was denied permission: Write (a.txt)'],
      artifacts: { files_changed: ['half.txt'] },
    },
  })
  expect(silent).toMatchObject({ state: 'failed', result: { status: 'error', error: { code: 'no_work' } } })
  expect(answered).toMatchObject({ state: 'done', result: { reply: 'It is 42.' } })
  expect(looked).toMatchObject({ state: 'done' })
})

test('a program that ends with 0 and leaves neither a change nor a result has done nothing that is known', async () => {
  const project = fleet()
  await project.worker(
    'w',
    `case "$(cat "$HEIMDALL_BRIEF_FILE")" in *change-it*) echo x > x.txt ;; *told*) ${DONE} ;; *empty*) echo {} > "$HEIMDALL_RESULT_FILE" ;; esac`,
  )
  expect(await project.send('empty')).toMatchObject({ state: 'failed', result: { error: { code: 'no_work' } } })
  expect(await project.send('nothing')).toMatchObject({ state: 'failed', result: { error: { code: 'no_work' } } })
  expect(await project.send('change-it')).toMatchObject({ state: 'done' })
  expect(await project.send('told')).toMatchObject({ state: 'done' })
})

test('seed 000, "Every message/spawn logs its token cost": the brief and the result of a task are in the ledger', async () => {
  const project = fleet()
  await project.worker('w', 'echo x > x.txt')
  expect(await project.send('write x', ['--id', 'T-1'])).toMatchObject({ state: 'done' })
  const rows = await until('rows of the attempt', () => {
    const path = join(project.root, '.planning/protocol/ledger.jsonl')
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
    return lines.length < 2 ? undefined : lines.map((line) => JSON.parse(line) as Json)
  })
  const brief = await project.run('heimdall-brief', ['build', '--task', 'T-1', '--spec', 'write x'])
  const tokens = encode(brief.stdout.replace(/\n$/, '')).length
  expect(rows).toMatchObject([
    { role: 'orchestrator', kind: 'delta_brief', msg_id: 'T-1#1/brief', source: 'measured', tokens },
    { role: 'w', kind: 'task_result', msg_id: 'T-1#1/result', source: 'measured' },
  ])
})

test('what may have had side effects is not sent again by itself: exit code, killed task, killed worker', async () => {
  const project = fleet()
  const script = [
    'echo "$HEIMDALL_TASK_ID" >> "$HOME/begun"',
    'case "$HEIMDALL_TASK_ID" in',
    'exits*) exit 7 ;;',
    'killed*) kill -9 $PPID; sleep 600 ;;',
    '*) echo $PPID > "$HOME/task"; sleep 600 ;;',
    'esac',
  ].join('\n')
  const worker = await project.worker('w', script)
  const begun = (): string[] => readFileSync(join(project.home, 'begun'), 'utf8').trim().split('\n')
  const task = (state: string, summary: string): Json => ({
    state,
    attempts: 1,
    reason: `${summary}; not sent again by itself, as it may have had side effects`,
    result: { error: { side_effects: 'possible' } },
  })
  expect(await project.send('x', ['--id', 'exits'])).toMatchObject(task('failed', 'the command ended with 7'))
  expect(await project.send('x', ['--id', 'killed'])).toMatchObject(
    task('failed', 'its process ended without a result'),
  )
  const waited = project.send('x', ['--id', 'worker'])
  const pid = Number(
    await until('the task to run', () =>
      existsSync(join(project.home, 'task')) ? readFileSync(join(project.home, 'task'), 'utf8').trim() : undefined,
    ),
  )
  worker.program.kill('SIGKILL')
  await worker.program.ended
  process.kill(pid, 'SIGKILL')
  await project.worker('w', script)
  expect(await waited).toMatchObject(task('failed', 'its process ended without a result'))
  expect(begun()).toEqual(['exits', 'killed', 'worker'])

  // Marked as harmless it is; by hand anything is.
  expect(await project.send('x', ['--id', 'exits-again', '--idempotent'])).toMatchObject({
    state: 'failed',
    attempts: 2,
  })
  const serving = await project.serve()
  const retried = await project.json(['task', 'retry', 'exits'])
  expect(retried).toMatchObject({ state: 'queued', ended_at: null, retry: null })
  await until('the second end', async () => {
    const shown = await project.json(['task', 'show', 'exits'])
    return shown['state'] === 'failed' && shown['attempts'] === 2
  })
  serving.kill('SIGTERM')
  await serving.ended
  expect(begun().filter((id) => id === 'exits')).toHaveLength(2)
})
