// A working folder that was removed under a shell: what needs no folder works, what needs one says so in a line.
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { hm } from '../hm/hm.ts'
import { type Ending, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

interface Nowhere {
  readonly home: string
  readonly run: (...command: readonly string[]) => Promise<Ending>
  readonly session: ReturnType<typeof hm>
}

/** Runs launchers from a shell whose folder is gone. */
function nowhere(): Nowhere {
  const session = hm()
  return {
    session,
    home: session.home,
    run: (bin = '', ...args) => {
      const folder = temporaryFolder()
      const script = `rmdir ${folder}; exec "$@"`
      const command = ['/bin/sh', '-c', script, 'sh', ...launcher(bin), ...args] as const
      return runProgram([...command], { cwd: folder, env: { ...session.env } })
    },
  }
}

test('what needs no folder works: help, lists, sessions by id, settings, absolute paths', async () => {
  const { run, session, home } = nowhere()
  await session.session('box', ['sh', '-c', 'echo here; read line; exit 3'])
  const works: [string, ...string[]][] = [
    ['heimdall', '--help'],
    ['hm', '--version'],
    ['hm', 'run', '--help'],
    ['hm', 'ls'],
    ['hm', 'status', 'box'],
    ['hm', 'logs', 'box'],
    ['hm', 'peek', 'box'],
    ['hm', 'send', 'box', 'x', '--enter'],
    ['heimdall', 'config', 'list'],
    ['heimdall', 'trust', '--list'],
    ['hm', 'run', '--id', 'other', '--detach', '--workdir', home, '--', 'true'],
    ['hm', 'clean'],
  ]
  for (const words of works) {
    const { code, stderr } = await run(...words)
    expect([words, code, stderr]).toEqual([words, 0, ''])
  }
  await session.session('late', ['sh', '-c', 'read line; exit 7'])
  // The end of our input is not the end of the session.
  expect((await run('hm', 'attach', 'late')).code).toBe(0)
})

test('what needs a folder says so in a line, with a stable code', async () => {
  const { run } = nowhere()
  const needs: [string, ...string[]][] = [
    ['hm', 'run', '--', 'true'],
    ['hm', 'ls', '--socket-dir', 'here'],
    ['heimdall', 'claim', 'list'],
    ['heimdall', 'claim', 'check', 'src'],
    ['heimdall', 'symbol', 'get', 'x'],
    ['heimdall', 'guard', 'run', 'pre-commit'],
    ['heimdall', 'trust'],
    ['heimdall-claim', 'check', 'src'],
  ]
  for (const words of needs) {
    const { code, stderr } = await run(...words)
    expect([words, code, stderr]).toEqual([words, expect.any(Number), expect.stringMatching(/^(error: )?.*is gone\n/)])
    expect([words, stderr.trimEnd().split('\n').length, code === 0]).toEqual([words, 2, false])
  }
  const { stdout } = await run('heimdall', 'claim', 'list', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'FOLDER_GONE' } })
  const server = await run('heimdall-ledger-mcp')
  expect([server.code, server.stderr]).toEqual([
    3,
    expect.stringMatching(/^error: .*is gone\nhint: .*--project DIR\n$/),
  ])
})

test('a folder that is none is named, before anything is started', async () => {
  const root = temporaryFolder()
  const up = await runLauncher('heimdall', ['up', '--port', '0', 'nowhere'], {
    cwd: root,
    env: { HOME: root },
  })
  expect([up.code, up.stderr]).toEqual([3, expect.stringMatching(/^error: there is no folder "nowhere"\nhint: .*\n$/)])
})
