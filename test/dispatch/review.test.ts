// From a task that has ended to merged work: diff, merge, pull request, discard and reply, with plain git as the witness.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mergeOrder } from '../../src/dispatch/review.ts'
import { compareUrl } from '../../src/spine/worktrees/pull-request.ts'
import { PR_BODY_BYTES_MAX } from '../../src/limits.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher, startProgram, waitForDeath } from '../support/programs.ts'
import type { Json } from '../support/shim-client.ts'
import { until, waitForFile } from '../support/wait.ts'
import { DONE, type Fleet, fleet } from './dispatch-kit.ts'

/** A worker whose agent does what the last line of its brief says, as shell. */
const DOES = `tail -n 1 "$HEIMDALL_BRIEF_FILE" | sh; ${DONE}`

const commits = (file: string, text: string): string =>
  `echo ${text} > ${file}; git add ${file}; git commit -qm "add ${file}"`

async function withTask(script: string, id = 'T-1'): Promise<Fleet> {
  const project = fleet()
  await project.worker('w', DOES)
  expect(await project.send(script, ['--id', id])).toMatchObject({ state: 'done' })
  return project
}

const task = (project: Fleet, ...args: string[]) => project.run('heimdall', ['task', ...args])
const shown = (project: Fleet, id: string): Promise<Json> => project.json(['task', 'show', id])
const errorOf = ({ stdout }: { stdout: string }): Json => (JSON.parse(stdout) as { error: Json }).error

test('ready for review, shown as a diff, merged, and its worktree removed', async () => {
  const project = fleet()
  await project.worker('w', DOES)
  const sent = await task(project, 'add', `Add a greeting\n${commits('hi.txt', 'hi')}`, '--id', 'T-1', '--wait')
  expect(sent.stdout).toContain('T-1 is ready for review: Add a greeting')
  expect(sent.stdout).toContain('heimdall task diff T-1')
  // The agent, its branch and its worktree are named after the task.
  const [worktree] = ((await project.json(['worktree', 'list'])) as unknown as { worktrees: Json[] }).worktrees
  expect(worktree).toMatchObject({ task: 'T-1', agent: expect.stringMatching(/^w-add-a-greeting-[0-9a-f]{6}$/) })
  expect((await task(project, 'list')).stdout).toMatch(/T-1\t.*\tready for review\t.*\tAdd a greeting/)
  expect((await task(project, 'diff', 'T-1')).stdout).toContain('+hi')
  expect((await project.run('heimdall', ['diff', 'T-1', '--stat'])).stdout).toContain('hi.txt')
  const merged = await project.json(['task', 'merge', 'T-1'])
  expect(merged).toMatchObject([
    { task_id: 'T-1', how: 'fast-forward', into: 'main', removed: { agent: worktree?.['agent'] } },
  ])
  expect(project.git('show', 'main:hi.txt')).toBe('hi\n')
  expect(project.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(await shown(project, 'T-1')).toMatchObject({ state: 'done', review: 'merged' })
  expect((await task(project, 'list')).stdout).toContain('no tasks')
  // The second reviewer is told what the first did.
  const again = errorOf(await task(project, 'merge', 'T-1', '--json'))
  expect(again).toMatchObject({ code: 'WORKTREE_NOT_FOUND', message: 'T-1 was merged into main' })
})

test('what the agent left uncommitted is merged only when it is committed, which merge offers', async () => {
  const project = await withTask('echo left > left.txt')
  const before = project.git('rev-parse', 'main')
  expect(errorOf(await task(project, 'merge', 'T-1', '--json'))).toMatchObject({
    code: 'WORKTREE_UNCOMMITTED',
    message: 'the agent of T-1 has not committed left.txt',
    hint: expect.stringContaining('--commit'),
  })
  expect(project.git('rev-parse', 'main')).toBe(before)
  expect((await task(project, 'merge', 'T-1', '--commit', 'left over')).code).toBe(0)
  expect(project.git('log', '-1', '--format=%s').trim()).toBe('left over')
})

test('discard removes folder and branch, and keeps every change under a ref', async () => {
  const project = await withTask(`${commits('a.txt', 'a')}; echo b > b.txt`)
  const { kept_under: kept } = await project.json(['task', 'discard', 'T-1'])
  expect(project.git('branch', '--list').trim()).toBe('* main')
  const [ref = ''] = kept as string[]
  expect([project.git('show', `${ref}:a.txt`), project.git('show', `${ref}:b.txt`)]).toEqual(['a\n', 'b\n'])
  expect(await shown(project, 'T-1')).toMatchObject({ review: 'discarded' })
  expect(errorOf(await task(project, 'reply', 'T-1', 'more', '--json'))).toMatchObject({ code: 'TASK_FORBIDDEN' })
})

test('a task whose worktree is gone does not block merge --ready, and can be discarded; what builds on it waits for a human', async () => {
  const project = await withTask(commits('a.txt', 'a'))
  expect(await project.send(commits('b.txt', 'b'), ['--id', 'T-2'])).toMatchObject({ state: 'done' })
  const list = async () => ((await project.json(['worktree', 'list'])) as unknown as { worktrees: Json[] }).worktrees
  const first = (await list()).find((one) => one['task'] === 'T-1')
  expect((await project.run('heimdall', ['merge', String(first?.['agent']), '--remove'])).code).toBe(0)
  const merged = await task(project, 'merge', '--ready', '--json')
  expect(merged.stderr).toContain('or were removed: T-1')
  expect(JSON.parse(merged.stdout)).toMatchObject({ data: [{ task_id: 'T-2' }] })
  await task(project, 'add', 'true', '--id', 'T-3', '--after', 'T-1', '--mcp', 'none')
  expect(await project.json(['task', 'discard', 'T-1'])).toMatchObject({ agent: null, kept_under: [] })
  expect(await shown(project, 'T-1')).toMatchObject({ review: 'discarded' })
  expect(await shown(project, 'T-3')).toMatchObject({
    state: 'triage',
    reason: 'it builds on T-1, which was discarded',
  })
  const late = errorOf(await task(project, 'add', 'true', '--after', 'T-1', '--json'))
  expect(late).toMatchObject({ code: 'TASK_FORBIDDEN', message: expect.stringContaining('T-1 was discarded') })
  expect(errorOf(await task(project, 'discard', 'T-1', '--json'))).toMatchObject({ code: 'WORKTREE_NOT_FOUND' })
})

test('a reply continues in the same worktree, with the same agent', async () => {
  const project = await withTask(commits('a.txt', 'a'))
  const typing = ownTerminal([...launcher('heimdall'), 'task', 'reply', 'T-1'], { cwd: project.root, env: project.env })
  await typing.see('type the reply to T-1')
  const { result: first } = (await shown(project, 'T-1')) as { result: Json }
  expect((await task(project, 'reply', 'T-1', commits('b.txt', 'b'), '--wait')).code).toBe(0)
  const now = (await shown(project, 'T-1')) as { result: Json }
  expect(now).toMatchObject({ state: 'done', attempts: 2, review: 'ready' })
  const artifacts = (result: Json) => result['artifacts'] as Json
  expect(artifacts(now.result)).toMatchObject({
    branch: artifacts(first)['branch'],
    worktree: artifacts(first)['worktree'],
  })
  await task(project, 'merge', 'T-1')
  expect([project.git('show', 'main:a.txt'), project.git('show', 'main:b.txt')]).toEqual(['a\n', 'b\n'])
})

test('a task after another begins with its branch, when that has ended; after one that failed it waits for a human', async () => {
  const project = fleet()
  await project.worker('w', DOES)
  await task(project, 'add', commits('a.txt', 'a'), '--id', 'A')
  await task(project, 'add', `${commits('b.txt', 'b')}; test -e a.txt && touch saw-a`, '--id', 'B', '--after', 'A')
  expect(await shown(project, 'B')).toMatchObject({ state: 'parked', reason: 'waits for A' })
  await task(project, 'add', 'true', '--id', 'C', '--wait', '--read-only')
  await until('B to end', async () => (await shown(project, 'B'))['state'] === 'done')
  expect((await shown(project, 'B'))['result']).toMatchObject({ artifacts: { files_changed: ['b.txt', 'saw-a'] } })
  await task(project, 'add', 'kill -9 $PPID', '--id', 'bad')
  await task(project, 'add', 'true', '--id', 'D', '--after', 'bad')
  await task(project, 'add', 'true', '--id', 'E', '--wait', '--read-only')
  await until('D to wait for a human', async () => (await shown(project, 'D'))['state'] === 'triage')
  expect((await shown(project, 'D'))['reason']).toBe('it builds on bad, which is failed')
  // What A is built on goes first, whatever order is asked for.
  expect(await project.json(['task', 'merge', 'B', 'A', '--commit', 'rest'])).toMatchObject([
    { task_id: 'A' },
    { task_id: 'B' },
  ])
})

test('several are merged in order; the first that conflicts or fails the check stops it, with those before merged', async () => {
  const project = fleet()
  await project.worker('w', DOES, ['--slots', '3'])
  const sends = ['one', 'two', 'three'].map((name) =>
    project.send(commits(name === 'three' ? 'own.txt' : 'same.txt', name), ['--id', name]),
  )
  await Promise.all(sends)
  const { message, merged } = errorOf(await task(project, 'merge', '--ready', '--json')) as {
    message: string
    merged: string[]
  }
  const [first, second] = merged
  // Its files are nobody else's.
  expect(first).toBe('three')
  expect(['one', 'two']).toContain(second)
  expect(message).toMatch(/^(?:one|two), after three, (?:one|two): .*same\.txt/)
  expect(project.git('show', 'main:same.txt').trim()).toBe(second)
  expect(project.git('status', '--porcelain', '--untracked-files=no')).toBe('')

  mkdirSync(join(project.home, '.config/heimdall'), { recursive: true })
  const settings = join(project.home, '.config/heimdall/heimdall.toml')
  writeFileSync(settings, `[worktree]\ncheck = "cat good.txt && ! test -e bad.txt"\nsetup = "echo ready > good.txt"\n`)
  await project.send(commits('bad.txt', 'bad'), ['--id', 'bad'])
  const tip = project.git('rev-parse', 'main')
  expect(errorOf(await task(project, 'merge', 'bad', '--json'))).toMatchObject({
    code: 'WORKTREE_CHECK_FAILED',
    message: expect.stringContaining('fails cat good.txt && ! test -e bad.txt: exit 1: ready'),
  })
  expect(project.git('rev-parse', 'main')).toBe(tip)
  expect((await task(project, 'merge', 'bad', '--no-check')).code).toBe(0)
})

test('a pull request: pushed, opened by gh where it is installed, else the page; a gh that fails says so', async () => {
  const project = await withTask(commits('a.txt', 'a'))
  const bare = join(project.home, 'r.git')
  project.git('init', '-q', '--bare', bare)
  expect(errorOf(await task(project, 'pr', 'T-1', '--json'))).toMatchObject({ code: 'WORKTREE_TARGET_UNFIT' })
  const address = 'https://github.com/o/r.git'
  project.git('remote', 'add', 'origin', address)
  project.git('config', `url.${bare}.pushInsteadOf`, address)
  const bin = join(project.home, 'bin')
  mkdirSync(bin)
  const gh = join(bin, 'gh')
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  const pr = async (script: string): Promise<{ code: number | null; data: Json }> => {
    writeFileSync(gh, `#!/bin/sh\n${script}\n`)
    chmodSync(gh, 0o755)
    const { code, stdout } = await project.run('heimdall', ['task', 'pr', 'T-1', '--json'], { env })
    return { code, data: (JSON.parse(stdout) as { data: Json }).data }
  }
  expect(await pr('echo no token >&2; exit 4')).toMatchObject({
    code: 1,
    data: { pr: null, failure: 'gh ended with 4: no token' },
  })
  const opened = await pr('printf "%s\\n" "$@" > "$HOME/gh-args"; echo https://github.com/o/r/pull/7')
  expect(opened).toMatchObject({ code: 0, data: { pr: 'https://github.com/o/r/pull/7', failure: null } })
  expect(readFileSync(join(project.home, 'gh-args'), 'utf8')).toContain('pr\ncreate\n--head\nheimdall/w-')
  expect(project.git('--git-dir', bare, 'branch', '--list')).toContain('heimdall/w-')
  expect(await shown(project, 'T-1')).toMatchObject({ review: 'proposed', pr: 'https://github.com/o/r/pull/7' })
})

test('the description of a pull request is the reply without its secrets, cut to what a program takes as an argument', async () => {
  const project = fleet()
  const secret = `ghp_${'aB3dE6gH9'.repeat(4)}`
  const reply = `The token is ${secret}. ${'é'.repeat(100_000)}`
  writeFileSync(join(project.home, 'reply.json'), JSON.stringify({ status: 'done', tokens_spent: 7, reply }))
  await project.worker('w', `${commits('a.txt', 'a')}; cp "$HOME/reply.json" "$HEIMDALL_RESULT_FILE"`)
  expect(await project.send('x', ['--id', 'T-1'])).toMatchObject({ state: 'done' })
  const bare = join(project.home, 'r.git')
  project.git('init', '-q', '--bare', bare)
  const address = 'https://github.com/o/r.git'
  project.git('remote', 'add', 'origin', address)
  project.git('config', `url.${bare}.pushInsteadOf`, address)
  const bin = join(project.home, 'bin')
  mkdirSync(bin)
  const script =
    '#!/bin/sh\nfor body; do :; done; printf %s "$body" > "$HOME/body"; echo https://github.com/o/r/pull/7\n'
  writeFileSync(join(bin, 'gh'), script, { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  expect((await project.run('heimdall', ['task', 'pr', 'T-1', '--json'], { env })).code).toBe(0)
  const body = readFileSync(join(project.home, 'body'), 'utf8')
  expect(body).toMatch(/^The token is .*é\n\n\(cut\)$/s)
  expect(body).not.toContain(secret)
  expect(Buffer.byteLength(body)).toBeLessThan(PR_BODY_BYTES_MAX + 10)
})

test.each([
  ['git@github.com:o/r.git', 'https://github.com/o/r/compare/main...heimdall/x'],
  ['https://user@github.com/o/r', 'https://github.com/o/r/compare/main...heimdall/x'],
  ['ssh://git@codeberg.org:22/o/r.git', 'https://codeberg.org/o/r/compare/main...heimdall/x'],
  [
    'git@gitlab.example:g/s/r.git',
    'https://gitlab.example/g/s/r/-/merge_requests/new?merge_request%5Bsource_branch%5D=heimdall%2Fx&merge_request%5Btarget_branch%5D=main',
  ],
  ['/srv/git/r.git', null],
])('the page for a pull request of %s', (address, page) => {
  expect(compareUrl(address, 'main', 'heimdall/x')).toBe(page)
})

test('the order of merges: what others build on first, then what touches the fewest files of the others', () => {
  const tasks = [
    { taskId: 'wide', after: undefined, paths: ['a', 'b'] },
    { taskId: 'child', after: 'parent', paths: [] },
    { taskId: 'parent', after: undefined, paths: ['a', 'c'] },
    { taskId: 'alone', after: undefined, paths: ['z'] },
  ]
  expect(mergeOrder(tasks).map(({ taskId }) => taskId)).toEqual(['alone', 'wide', 'parent', 'child'])
})

test('a merge while the agent is at work, and of what is not there, is refused', async () => {
  const project = fleet()
  await project.worker(
    'w',
    `${commits('a.txt', 'a')}; echo > "$HOME/begun"; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; ${DONE}`,
  )
  await project.run('heimdall', ['task', 'add', 'x', '--id', 'T-1'])
  const serving = await project.serve()
  await until('it to run', () => existsSync(join(project.home, 'begun')))
  expect(errorOf(await task(project, 'merge', 'T-1', '--json'))).toMatchObject({ code: 'TASK_FORBIDDEN' })
  expect(errorOf(await task(project, 'discard', 'T-1', '--json'))).toMatchObject({ code: 'TASK_FORBIDDEN' })
  writeFileSync(join(project.home, 'go'), '')
  await until('it to end', async () => (await shown(project, 'T-1'))['state'] === 'done')
  project.git('checkout', '-q', '--detach')
  expect(errorOf(await task(project, 'merge', 'T-1', '--json'))).toMatchObject({ code: 'WORKTREE_TARGET_UNFIT' })
  expect(errorOf(await task(project, 'merge', '--json'))).toMatchObject({ code: 'USAGE' })
  serving.kill('SIGTERM')
})

test('an agent that is named like a task keeps its worktree when the task is shown and discarded', async () => {
  const project = await withTask(commits('a.txt', 'of the task'), 'teal-crane')
  const script = commits('mine.txt', 'of the agent')
  const agents = ['run', '--worktree', '--agent', 'teal-crane', '--', 'sh', '-c', script]
  expect(await project.run('heimdall', agents)).toMatchObject({ code: 0 })
  const listed = async (): Promise<Json[]> =>
    ((await project.json(['worktree', 'list'])) as unknown as { worktrees: Json[] }).worktrees
  expect(await listed()).toHaveLength(2)
  expect((await task(project, 'diff', 'teal-crane')).stdout).toContain('+of the task')
  expect((await task(project, 'discard', 'teal-crane')).code).toBe(0)
  const left = await listed()
  expect(left).toMatchObject([{ agent: 'teal-crane' }])
  expect(readFileSync(join(String(left[0]?.['path']), 'mine.txt'), 'utf8')).toBe('of the agent\n')
})

test.each([
  ['switch --quiet release', 'on release'],
  ['checkout --quiet --detach', 'on no branch'],
])('work that is not on its branch (git %s) is not proposed, and nothing is pushed', async (left, where) => {
  const project = await withTask(commits('a.txt', 'a'))
  project.git('branch', 'release')
  const bare = join(project.home, 'r.git')
  project.git('init', '-q', '--bare', bare)
  project.git('remote', 'add', 'origin', bare)
  const [worktree] = ((await project.json(['worktree', 'list'])) as unknown as { worktrees: Json[] }).worktrees
  const path = String(worktree?.['path'])
  project.git('-C', path, ...left.split(' '))
  project.git('-C', path, 'commit', '-q', '--allow-empty', '-m', 'elsewhere')
  expect(errorOf(await task(project, 'pr', 'T-1', '--json'))).toMatchObject({
    code: 'WORKTREE_TARGET_UNFIT',
    message: expect.stringContaining(where),
  })
  expect(project.git('--git-dir', bare, 'for-each-ref')).toBe('')
})

test('the forge is told by the host of the remote, not by folders of its path', async () => {
  const project = await withTask(commits('a.txt', 'a'))
  const bare = join(project.home, 'github.com', 'r.git')
  project.git('init', '-q', '--bare', bare)
  project.git('remote', 'add', 'origin', bare)
  const bin = join(project.home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho https://github.com/o/r/pull/7\n', { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  const { stdout } = await project.run('heimdall', ['task', 'pr', 'T-1', '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ data: { pr: null, compare: null, failure: null } })
})

test('discard deletes ignored files only when a human agrees, and commits nothing during a merge', async () => {
  const project = await withTask(`echo '*.log' > .gitignore; echo only > run.log; ${commits('a.txt', 'a')}`)
  const [worktree] = ((await project.json(['worktree', 'list'])) as unknown as { worktrees: Json[] }).worktrees
  const path = String(worktree?.['path'])
  expect(errorOf(await task(project, 'discard', 'T-1', '--json'))).toMatchObject({
    code: 'CONSENT_REQUIRED',
    message: expect.stringContaining('run.log'),
  })
  expect(readFileSync(join(path, 'run.log'), 'utf8')).toBe('only\n')
  const byPerson = async (...args: string[]): Promise<number> =>
    ownTerminal([...launcher('heimdall'), 'task', ...args], { cwd: project.root, env: project.env }).ended
  project.git('-C', path, 'update-ref', 'MERGE_HEAD', 'HEAD')
  const tip = project.git('-C', path, 'rev-parse', 'HEAD')
  expect(await byPerson('discard', 'T-1', '--yes')).not.toBe(0)
  expect(project.git('-C', path, 'rev-parse', 'HEAD')).toBe(tip)
  project.git('-C', path, 'update-ref', '-d', 'MERGE_HEAD')
  expect(await byPerson('discard', 'T-1', '--yes')).toBe(0)
  expect(existsSync(path)).toBe(false)
})

test('a check that is interrupted ends with what it has started, and one that was killed is cleared by the next', async () => {
  const project = await withTask(commits('a.txt', 'a'))
  const settings = join(project.home, '.config/heimdall/heimdall.toml')
  const pidFile = join(project.home, 'pid')
  const checkedBy = (command: string): void => {
    mkdirSync(join(project.home, '.config/heimdall'), { recursive: true })
    writeFileSync(settings, `[worktree]\ncheck = "${command}"\n`)
  }
  const begun = async () => {
    rmSync(pidFile, { force: true })
    const program = startProgram([...launcher('heimdall'), 'task', 'merge', 'T-1'], {
      cwd: project.root,
      env: project.env,
    })
    return { program, pid: Number(await waitForFile(pidFile, (text) => text.endsWith('\n'))) }
  }
  const checkouts = (): number => project.git('worktree', 'list').trim().split('\n').length
  checkedBy(`echo $$ > ${pidFile}; exec sleep 300`)
  const interrupted = await begun()
  interrupted.program.kill('SIGINT')
  expect((await interrupted.program.ended).code).toBe(130)
  await waitForDeath(interrupted.pid)
  expect(checkouts()).toBe(2)
  const killed = await begun()
  killed.program.kill('SIGKILL')
  await killed.program.ended
  process.kill(killed.pid, 'SIGKILL')
  expect(checkouts()).toBe(3)
  checkedBy('true')
  expect((await task(project, 'merge', 'T-1')).code).toBe(0)
  expect(checkouts()).toBe(1)
})
