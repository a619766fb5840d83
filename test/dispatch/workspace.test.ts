// The working tree of a worker (seed 003, `repo_state.clean`): our own files make none dirty, worktrees of ended tasks go unless they hold something, and only a regular file is a result.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import type { Json } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { DONE, fleet } from './dispatch-kit.ts'
import { contractOf } from './worker-in-process.ts'

test('a worker without worktrees takes one task after another: what we write ourselves makes no tree dirty, what others left does', async () => {
  const project = fleet()
  const worker = await project.worker('w', DONE, ['--no-worktree'])
  await project.run('heimdall', ['fact', 'set', 'colour', 'blue'])
  for (const id of ['N-1', 'N-2']) expect(await project.send('do it', ['--id', id])).toMatchObject({ state: 'done' })
  expect(project.git('status', '--porcelain')).not.toBe('')
  project.write('README.md', 'somebody is at work\n')
  // Asked by whoever has not heard of it yet.
  const peer = new A2aPeer({
    name: 'w',
    url: worker.url,
    token: () => worker.token,
    clock: systemClock,
    note: () => undefined,
  })
  expect(await peer.send(contractOf('N-3', { requirements: {} }), [], new AbortController().signal)).toMatchObject({
    kind: 'ended',
    result: { status: 'blocked', tokens_spent: 0, blocked: { class: 'workspace', code: 'repo_dirty' } },
  })
  // What it does not write to may be as it is.
  expect(await project.send('look', ['--id', 'N-4', '--read-only'])).toMatchObject({ state: 'done' })
})

test('worktrees of ended tasks go; one that holds work stays, is named, and goes once that is merged', async () => {
  const project = fleet()
  const script = `case "$HEIMDALL_TASK_ID" in
    W-files) echo new > made.txt ;;
    W-commit) echo new > made.txt; git add made.txt; git commit -qm made ;;
    W-ignored) mkdir build; echo build/ >> "$(git rev-parse --git-common-dir)/info/exclude"; echo out > build/out ;;
  esac; ${DONE}`
  const { program } = await project.worker('w', script)
  // Git's own word; the first is the checkout.
  const linked = (): number => project.git('worktree', 'list').trim().split('\n').length - 1
  const nothing = await project.send('look', ['--id', 'W-nothing'])
  expect((nothing['result'] as Json)['artifacts']).toEqual({ files_changed: [] })
  const branches = (): number => project.git('branch', '--list').trim().split('\n').length
  await until('its worktree and its branch to go', () => linked() === 0 && branches() === 1)
  for (const id of ['W-files', 'W-commit', 'W-ignored']) {
    const { artifacts } = (await project.send('do it', ['--id', id]))['result'] as { artifacts: Json }
    await until(`${id} to be named`, () => program.stderr().includes(`the worktree of ${id} stays at `))
    if (id === 'W-ignored') continue
    expect(artifacts).toMatchObject({ files_changed: ['made.txt'] })
    expect(existsSync(join(String(artifacts['worktree']), 'made.txt'))).toBe(true)
    if (id === 'W-commit') project.git('merge', '-q', String(artifacts['branch']))
  }
  expect(linked()).toBe(3)
  program.kill('SIGTERM')
  await program.ended
  await project.worker('w', script)
  await until('what is merged to go', () => linked() === 2)
})

test.each([
  ['a pipe', 'mkfifo "$HEIMDALL_RESULT_FILE"', /no regular file/],
  ['a folder', 'mkdir "$HEIMDALL_RESULT_FILE"', /no regular file/],
  ['a device', 'ln -s /dev/zero "$HEIMDALL_RESULT_FILE"', /no regular file/],
  [
    'a link',
    'echo {} > "$HEIMDALL_BRIEF_FILE.json"; ln -s "$HEIMDALL_BRIEF_FILE.json" "$HEIMDALL_RESULT_FILE"',
    /no regular file/,
  ],
  ['too large', 'head -c 1100000 /dev/zero > "$HEIMDALL_RESULT_FILE"', /more than 1048576 bytes/],
  ['a list', 'echo [] > "$HEIMDALL_RESULT_FILE"', /not a JSON object/],
])('a result file that is %s ends the attempt with a reason', async (_what, script, why) => {
  const { runOrder } = await import('../../src/dispatch/runner/run-order.ts')
  const { readOutcome, writeOrder } = await import('../../src/dispatch/runner/order.ts')
  const { temporaryFolder } = await import('../support/project.ts')
  const dir = temporaryFolder()
  writeOrder(dir, {
    v: 1,
    taskId: 'T-1',
    attempt: 1,
    runtime: 'command',
    command: ['sh', '-c', script],
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
  expect(
    await runOrder(dir, { env: process.env, clock: systemClock, say: () => undefined, lines: async function* () {} }),
  ).toBe(1)
  expect(readOutcome(dir)).toMatchObject({ status: 'error', error: { code: 'wrong_result', phase: 'reply' } })
  expect(readOutcome(dir)?.error?.summary).toMatch(why)
  expect(readdirSync(dir)).toContain('outcome.json')
})

test('peers check reaches our own orchestrator and our own workers', async () => {
  const project = fleet()
  const orchestrator = await project.serve()
  await project.worker('w', DONE)
  const found = (await project.json(['peers', 'check'])) as unknown as Json[]
  expect(found.map(({ name, reachable, extension, why }) => [name, reachable, extension, why])).toEqual([
    ['w', true, true, null],
    ['orchestrator', true, true, null],
  ])
  orchestrator.kill('SIGTERM')
  expect((await orchestrator.ended).code).toBe(0)
})
