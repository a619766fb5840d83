// Nothing outlives a shim: acceptance ids PROC of seed 004 §6.3, with servers that ignore signals and children that run away.
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { eachSource } from '../support/process-sources.ts'
import { descendants, fixture, isRunning, launcher, startProgram, waitForTreeDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { checkBooks, ofType, type ShimClient, startShim, toolCall } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

async function treeOf(shim: ShimClient): Promise<number[]> {
  const children = JSON.parse((await shim.call('children'))['result'].content[0].text as string) as number[]
  return [...new Set([...descendants(shim.program.pid), ...children])]
}

async function expectAllGone(shim: ShimClient, tree: readonly number[]): Promise<void> {
  // None of them would go by itself.
  await waitForTreeDeath(shim.program.pid, tree)
}

eachSource((source) => {
  // Which signal it was makes no difference to how processes are found.
  test.each(source === 'proc' ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : (['SIGTERM'] as const))(
    'PROC-001: %s ends shim, server and its children, also a server that ignores it',
    async (signal) => {
      const shim = startShim({ ownProcess: true, env: { FAKE_STUBBORN: '1' } })
      const tree = await treeOf(shim)
      shim.program.kill(signal)
      await expectAllGone(shim, tree)
      const { code } = await shim.program.ended
      expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal])
      const events = shim.events()
      expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('CANCELLED')
      expect(checkBooks(events)).toEqual([])
    },
  )

  test('a shim killed with SIGKILL leaves no orphan', async () => {
    const shim = startShim({ ownProcess: true, env: { FAKE_STUBBORN: '1' } })
    const tree = await treeOf(shim)
    expect(tree.length).toBeGreaterThanOrEqual(4)
    shim.program.kill('SIGKILL')
    await expectAllGone(shim, tree)
  })
})

test('PROC-002: the end of input ends both, also a server that ignores it', async () => {
  const shim = startShim({ ownProcess: true, env: { FAKE_STUBBORN: '1' } })
  const tree = await treeOf(shim)
  const { code, events } = await shim.end()
  await expectAllGone(shim, tree)
  expect(code).toBe(0)
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('SUCCEEDED')
})

test('PROC-002: a client that dies with the pipes in the hands of others is noticed by its pid', async () => {
  // The parent leaves when it is told to; a sleeping child of its own keeps the other end of the shim's input open.
  const script =
    'const{spawn}=require("node:child_process");const s=spawn(process.execPath,process.argv.slice(1),{stdio:["pipe","ignore","ignore"]});const k=spawn("/bin/sleep",["60"],{stdio:["ignore","ignore","ignore",s.stdin._handle.fd],detached:true});console.log(JSON.stringify([s.pid,k.pid]));process.stdin.once("data",()=>process.exit(0))'
  const parent = startProgram(
    [
      process.execPath,
      '-e',
      script,
      ...launcher('sub').slice(1),
      'shim',
      '--server-name=x',
      '--',
      ...fixture('shim-upstream'),
    ],
    { env: { HOME: temporaryFolder(), FAKE_STUBBORN: '1' } },
  )
  const [shimPid = 0, keeper = 0] = JSON.parse(await parent.waitForLine(/^\[/)) as number[]
  try {
    const tree = await until('the server to start', () => {
      const found = descendants(shimPid)
      return found.length >= 2 ? found : undefined
    })
    parent.send('leave')
    await parent.ended
    await waitForTreeDeath(shimPid, tree)
  } finally {
    process.kill(keeper, 'SIGKILL')
  }
})

test('PROC-003: a crash of the server gives every open call its error and its end, and the run its status', async () => {
  const shim = startShim()
  for (const id of [1, 2, 3]) shim.send(toolCall(id, 'never'))
  shim.send(toolCall(4, 'crash', { code: 3 }))
  const { code } = await shim.program.ended
  const events = shim.events()
  expect(code).toBe(3)
  for (const id of [1, 2, 3, 4]) expect(await shim.answer(id)).toMatchObject({ error: { code: -32_603 } })
  const ends = ofType(events, 'tool_call_end')
  expect(ends).toHaveLength(4)
  for (const end of ends) expect(end).toMatchObject({ status: 'ERROR', error: { class: 'transport' } })
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('FAILED')
  expect(checkBooks(events)).toEqual([])
})

test('PROC-003: a server that dies in the middle of a line does not swallow our answers', async () => {
  const shim = startShim()
  shim.send(toolCall(1, 'torn'))
  await shim.program.ended
  expect(shim.program.stdout().split('\n')[0]).toBe('{"jsonrpc":"2.0","id":')
  expect(await shim.answer(1)).toMatchObject({ error: { code: -32_603 } })
})

test('a server that cannot be started is told plainly', async () => {
  const shim = startShim({ server: ['/no/such/server'] })
  shim.send(toolCall(1, 'echo'))
  const { code, stderr } = await shim.program.ended
  expect(code).toBe(127)
  expect(stderr).toContain('could not be started')
  expect(ofType(shim.events(), 'run_end')[0]?.['run'].status).toBe('FAILED')
})

test('a server that cannot be started is no success either for a client that has left at once', async () => {
  const shim = startShim({ server: ['/no/such/server'] })
  const { code, events, stderr } = await shim.end()
  expect(code).toBe(127)
  expect(stderr).toContain('could not be started')
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('FAILED')
})

test('a server that writes much to stderr is not held up, and what it says is passed on', async () => {
  const shim = startShim({ bin: 'heimdall' })
  await shim.call('noise', { bytes: 200_000 })
  const { stderr } = await shim.end()
  expect(stderr.length).toBe(200_000)
})

test('the server does not see the policy that governs it', async () => {
  const policy = JSON.stringify({
    policy_id: 'p',
    version: '1',
    mode: 'observe',
    defaults: {},
    selectors: {},
    rules: [],
  })
  const shim = startShim({ env: { SUB_POLICY_JSON: policy, SUB_SECRET_BINDINGS: '[]', GIT_TOKEN: 'kept' } })
  const env = JSON.parse((await shim.call('env'))['result'].content[0].text as string) as Record<string, string>
  expect(env).toMatchObject({ GIT_TOKEN: 'kept' })
  expect(Object.keys(env).filter((name) => /^SUB_(POLICY|SECRET)/.test(name))).toEqual([])
  const { events } = await shim.end()
  expect(events[0]?.['run'].policy.policy_id).toBe('p')
})

test('a reader of stderr that never reads stops neither calls nor the end', async () => {
  const [node, bin] = launcher('sub')
  const child = spawn(node, [bin, 'shim', '--server-name=x', '--', ...fixture('shim-upstream')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: temporaryFolder() },
  })
  child.stderr.pause()
  let answers = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) answers += 1
  })
  const calls = 3_000
  for (let id = 1; id <= calls; id += 1)
    child.stdin.write(`${JSON.stringify(toolCall(id, 'echo', { text: 'x'.repeat(1_000) }))}\n`)
  await until('all answers', () => answers >= calls)
  const exited = new Promise((resolve) => void child.once('exit', resolve))
  child.stdin.end()
  expect(await exited).toBe(0)
  expect(isRunning(child.pid ?? 0)).toBe(false)
})
