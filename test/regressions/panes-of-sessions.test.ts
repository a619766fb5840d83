// Panes of a tmux server: the server leaves its parents as it starts, and what it shows is a session's, a person's, or nobody's.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Acting } from '../../src/person.ts'
import { hm } from '../hm/hm.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { fixture, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { BIN, shellIn } from '../support/shell.ts'
import { until, waitForFile } from '../support/wait.ts'

const WHO = fixture('who-acts')
  .map((word) => `"${word}"`)
  .join(' ')
const acting = (text: string): Acting => JSON.parse(/^acting (.*)$/m.exec(text)?.[1] ?? text) as Acting

/** Words that speak to a tmux server of this test alone. */
function server(): string {
  const folder = temporaryFolder()
  const words = ['tmux', '-S', join(folder, 'socket'), '-f', '/dev/null']
  onTestFinished(async () => void (await runProgram([words[0] ?? '', ...words.slice(1), 'kill-server'])))
  return words.join(' ')
}

async function written(file: string): Promise<string> {
  await until(`${file} to be written`, () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'))
  return readFileSync(file, 'utf8')
}

test('a pane of a server that was started in a session is the session, and no person', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'box')
  expect(await shell.run('heimdall claim take docs')).toMatchObject({ code: 0 })
  const file = project.path('../pane')
  const line = `heimdall haid current >${file}.haid; heimdall claim take docs/x >${file}.claim; ${WHO} ${file}.who; cat`
  expect(await shell.run(`${server()} new-session -d '${line}'`)).toMatchObject({ code: 0 })
  expect(await written(`${file}.haid`)).toMatch(/\/box\n$/)
  expect(await written(`${file}.claim`)).toContain('docs/x')
  expect(acting(await waitForFile(`${file}.who`, (text) => text.endsWith('\n')))).toMatchObject({ person: false })
})

test('a server with an empty environment that no terminal is attached to is nobody’s; attached in a session, it is no person’s', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'box')
  const tmux = server()
  const file = project.path('../bare')
  const ask = (name: string): string => `${WHO} ${file}.${name}; cat`
  const bare = `env -i PATH='${BIN}:/usr/bin:/bin' TERM=xterm`
  expect(await shell.run(`${bare} ${tmux} new-session -d '${ask('one')}'`)).toMatchObject({ code: 0 })
  const first = acting(await waitForFile(`${file}.one`, (text) => text.endsWith('\n')))
  expect(first).toEqual({
    person: false,
    reason: expect.stringMatching(/^tmux \(process \d+\) shows it to no terminal/),
  })

  // The window of the client that is attached asks, and ends the server when it has its answer.
  project.write('window', `${WHO} ${file}.two; ${tmux} kill-server`)
  project.write('attach', `exec ${tmux} attach ';' new-window 'sh ${project.path('window')}'`)
  await shell.run(`${bare} script -qec 'sh ${project.path('attach')}' /dev/null`)
  const second = acting(await waitForFile(`${file}.two`, (text) => text.endsWith('\n')))
  expect(second).toEqual({ person: false, reason: expect.stringMatching(/^session box runs it/) })
})

test('a person’s own server is the person’s while a terminal of the person is attached', async () => {
  const file = join(temporaryFolder(), 'who')
  const terminal = ownTerminal([...server().split(' '), 'new-session', `${WHO} ${file}; cat`], {
    cwd: '/',
    env: { TERM: 'xterm' },
  })
  expect(acting(await waitForFile(file, (text) => text.endsWith('\n')))).toMatchObject({ person: true })
  terminal.type('\u0004')
  await terminal.ended
})
