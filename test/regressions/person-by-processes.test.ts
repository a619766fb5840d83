// Whether a person acts is read from processes: terminals, sessions and hosts that are real, and what a program in them can and cannot do about it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Acting } from '../../src/person.ts'
import { hm } from '../hm/hm.ts'
import { leavingTerminal, ownTerminal } from '../support/own-terminal.ts'
import { fixture, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForFile } from '../support/wait.ts'

const WHO = fixture('who-acts')
const quoted = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
const acting = (text: string): Acting => JSON.parse(/^acting (.*)$/m.exec(text)?.[1] ?? text) as Acting

async function inTerminal(command: readonly string[], how: { env?: object; hostEnv?: object } = {}): Promise<string> {
  const terminal = ownTerminal(command, { cwd: '/', env: { ...how.env }, hostEnv: { ...how.hostEnv } })
  expect([terminal.written(), await terminal.ended]).toEqual([expect.anything(), 0])
  return terminal.written()
}

/** What `command FILE` says inside a session, which stays until the file is there. */
async function inSession(command: (file: string) => string): Promise<Acting> {
  const session = hm()
  const file = join(session.home, 'acting')
  await session.session('box', ['/bin/sh', '-c', `${command(file)}; read line`])
  return acting(await waitForFile(file, (text) => text.endsWith('\n')))
}

test('a terminal of one’s own is a person, by name and terminal', async () => {
  const written = await inTerminal(['/bin/sh', '-c', `tty; ${quoted(WHO)}`])
  expect(acting(written)).toEqual({
    person: true,
    name: execFileSync('id', ['-un'], { encoding: 'utf8' }).trim(),
    terminal: /^(\/dev\/\S+)/.exec(written)?.[1],
  })
  expect(userInfo().username).toBe(execFileSync('id', ['-un'], { encoding: 'utf8' }).trim())
})

test('input from a pipe does not make the person at the terminal another one; no terminal is nobody', async () => {
  expect(acting(await inTerminal(['/bin/sh', '-c', `echo | ${quoted(WHO)}`]))).toMatchObject({ person: true })
  const { stdout } = await runProgram(WHO)
  expect(acting(stdout)).toEqual({ person: false, reason: 'there is no terminal' })
})

test('a session is no person, with an empty environment and as an orphan on its terminal', async () => {
  const plain = (file: string): string => `env -i ${quoted([...WHO, file])}`
  const isOrphan = '[ "$(ps -o sid= -p "$(ps -o ppid= -p $$)")" != "$(ps -o sid= -p $$)" ]'
  const orphan = (file: string): string =>
    `( env -i sh -c ${quoted([`until ${isOrphan}; do :; done; ${plain(file)}; :`])} & )`
  for (const command of [plain, orphan])
    expect(await inSession(command)).toEqual({ person: false, reason: expect.stringMatching(/^session box runs it/) })
})

test('a fresh terminal that a session left to init still carries the marks of the session', async () => {
  const terminal = (file: string): string =>
    `exec 3>/dev/null 4<&0; ${quoted(leavingTerminal([...WHO, file], { cwd: '/', env: {} }))}`
  expect(await inSession(terminal)).toEqual({
    person: false,
    reason: expect.stringMatching(/HEIMDALL_SESSION_KEY is set/),
  })
})

test('a host above it acts, whether it is a program or a script, and whatever its environment', async () => {
  const folder = temporaryFolder()
  symlinkSync('/bin/sh', join(folder, 'claude'))
  const asProgram = await inTerminal([join(folder, 'claude'), '-c', `env -i ${quoted(WHO)}; true`])
  expect(acting(asProgram)).toMatchObject({ person: false, reason: expect.stringMatching(/^Claude Code runs it/) })

  const script = join(folder, 'node_modules/@google/gemini-cli/bundle/gemini.js')
  mkdirSync(join(script, '..'), { recursive: true })
  writeFileSync(
    script,
    `require('node:child_process').spawnSync(process.execPath, process.argv.slice(3), { stdio: 'inherit', env: {} })`,
  )
  const asScript = await inTerminal([process.execPath, '--no-warnings', script, ...WHO])
  expect(acting(asScript)).toMatchObject({ person: false, reason: expect.stringMatching(/^Gemini CLI runs it/) })
})

test('marks of a host in what a process or its terminal was started with speak against a person', async () => {
  const marked = acting(await inTerminal(WHO, { env: { CLAUDECODE: '1' } }))
  expect(marked).toMatchObject({ person: false, reason: expect.stringMatching(/where CLAUDECODE is set/) })
  // As in a tmux server that an agent has started, and in which a window was opened with an empty environment.
  const terminal = acting(await inTerminal(WHO, { hostEnv: { GEMINI_CLI: '1' } }))
  expect(terminal).toMatchObject({ person: false, reason: expect.stringMatching(/where GEMINI_CLI is set/) })
})

test('a variable that names another source of processes makes nobody a person', async () => {
  const weakened = (file: string): string =>
    `env -i HEIMDALL_PROCESSES=ps-without-environment ${quoted([...WHO, file])}`
  expect(await inSession(weakened)).toMatchObject({ person: false })
})
