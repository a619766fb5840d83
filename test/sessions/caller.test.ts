// Who runs a command, by its process ancestors: a human, an agent, or another user.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Acting } from '../../src/person.ts'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { hm, type Hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { spine } from '../spine/spine.ts'
import { needs } from '../support/needs.ts'
import { leavingTerminal, ownTerminal } from '../support/own-terminal.ts'
import { fixture, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { BIN, shellIn } from '../support/shell.ts'
import { until, waitForFile } from '../support/wait.ts'

// Terminals, sessions and hosts are real; a program in them cannot change the result.
describe('human by processes', () => {
  const WHO = fixture('who-acts')
  const quoted = (words: readonly string[]): string =>
    words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
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
      expect(await inSession(command)).toEqual({ person: false, reason: expect.stringMatching(/^run by session box /) })
  })

  test('a fresh terminal that a session left to init still carries the marks of the session', async () => {
    const terminal = (file: string): string =>
      `exec 3>/dev/null 4<&0; ${quoted(leavingTerminal([...WHO, file], { cwd: '/', env: {} }))}`
    expect(await inSession(terminal)).toEqual({
      person: false,
      reason: expect.stringMatching(/was started with HEIMDALL_SESSION_KEY/),
    })
  })

  test('a host above it acts, whether it is a program or a script, and whatever its environment', async () => {
    const folder = temporaryFolder()
    symlinkSync('/bin/sh', join(folder, 'claude'))
    const asProgram = await inTerminal([join(folder, 'claude'), '-c', `env -i ${quoted(WHO)}; true`])
    expect(acting(asProgram)).toMatchObject({ person: false, reason: expect.stringMatching(/^run by Claude Code /) })

    const script = join(folder, 'node_modules/@google/gemini-cli/bundle/gemini.js')
    mkdirSync(join(script, '..'), { recursive: true })
    writeFileSync(
      script,
      `require('node:child_process').spawnSync(process.execPath, process.argv.slice(3), { stdio: 'inherit', env: {} })`,
    )
    const asScript = await inTerminal([process.execPath, '--no-warnings', script, ...WHO])
    expect(acting(asScript)).toMatchObject({ person: false, reason: expect.stringMatching(/^run by Gemini CLI /) })
  })

  test('marks of a host in what a process or its terminal was started with speak against a person', async () => {
    const marked = acting(await inTerminal(WHO, { env: { CLAUDECODE: '1' } }))
    expect(marked).toMatchObject({ person: false, reason: expect.stringMatching(/was started with CLAUDECODE/) })
    // As in a tmux server that an agent has started, and in which a window was opened with an empty environment.
    const terminal = acting(await inTerminal(WHO, { hostEnv: { GEMINI_CLI: '1' } }))
    expect(terminal).toMatchObject({ person: false, reason: expect.stringMatching(/was started with GEMINI_CLI/) })
  })

  test('a variable that names another source of processes makes nobody a person', async () => {
    const weakened = (file: string): string =>
      `env -i HEIMDALL_PROCESSES=ps-without-environment ${quoted([...WHO, file])}`
    expect(await inSession(weakened)).toMatchObject({ person: false })
  })
})

// A terminal opened inside a session belongs to the session.
test('whoever opens a terminal in a session is the session, with its environment and without it', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'web'])
  const shell = await shellIn(hm(), project, 'box')
  expect(await shell.run('heimdall claim docs')).toMatchObject({ code: 0 })
  const home = Object.entries(project.env).map(([name, value]) => `${name}='${value}'`)
  const bare = `env -i PATH="$PATH" ${home.join(' ')}`

  for (const env of ['env', bare]) {
    const inside = (line: string): Promise<{ text: string; code: number }> =>
      shell.run(`${env} script -qec '${line}' /dev/null`)
    expect([env, await inside('heimdall claim docs/x')]).toMatchObject([env, { code: 0 }])
    expect([env, (await inside('heimdall-haid current')).text]).toEqual([env, expect.stringMatching(/\/box\s*$/)])
    expect([env, await inside('heimdall claim release --agent amber-otter --json')]).toEqual([
      env,
      { code: 4, text: expect.stringContaining('IDENTITY_BORROWED') },
    ])
  }
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  const refused = (JSON.parse(stdout) as { data: { from_agent: string | null; to_agent: string }[] }).data
  expect(refused.map((event) => [event.from_agent, event.to_agent])).toEqual([
    ['box', 'amber-otter'],
    ['box', 'amber-otter'],
  ])
})

test('a session whose first program has thrown its environment away is a session all the same', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'bare', {}, ['env', '-i', '/bin/sh'])
  expect(await shell.run('heimdall claim docs')).toMatchObject({ code: 0 })
  expect(await shell.whoami()).toMatchObject({ proof: 'process', session: 'bare', holds: [{}] })
})

test('a script is not a host because its arguments name one', async () => {
  const acting = async (words: readonly string[]): Promise<unknown> => {
    const file = join(temporaryFolder(), 'who')
    const terminal = ownTerminal([...words, file, 'node', '/x/node_modules/@openai/codex/bin/codex.js'], {
      cwd: '/',
      env: { TERM: 'xterm' },
    })
    await terminal.ended
    return JSON.parse(readFileSync(file, 'utf8').replace('acting ', ''))
  }
  const [node, script] = fixture('who-acts')
  expect(await acting([node, script])).toMatchObject({ person: true })
  const host = join(temporaryFolder(), 'node_modules/@openai/codex')
  mkdirSync(host, { recursive: true })
  writeFileSync(join(host, 'run.mjs'), `await import(${JSON.stringify(script)})`)
  expect(await acting([node, '--conditions', 'x', join(host, 'run.mjs')])).toMatchObject({
    person: false,
    reason: expect.stringMatching(/^run by Codex /),
  })
})

// A tmux server leaves its parents as it starts; its panes belong to a session, a human, or no one.
describe('tmux panes', () => {
  const WHO = fixture('who-acts')
    .map((word) => `"${word}"`)
    .join(' ')
  const acting = (text: string): Acting => JSON.parse(/^acting (.*)$/m.exec(text)?.[1] ?? text) as Acting

  /** Words that speak to a tmux server of this test alone. */
  function server(): string {
    needs('tmux')
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
    expect(await shell.run('heimdall claim docs')).toMatchObject({ code: 0 })
    const file = project.path('../pane')
    const line = `heimdall-haid current >${file}.haid; heimdall claim docs/x >${file}.claim; ${WHO} ${file}.who; cat`
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
      reason: expect.stringMatching(/^tmux \(pid \d+\) has no attached client/),
    })

    // The window of the client that is attached asks, and ends the server when it has its answer.
    project.write('window', `${WHO} ${file}.two; ${tmux} kill-server`)
    project.write('attach', `exec ${tmux} attach ';' new-window 'sh ${project.path('window')}'`)
    await shell.run(`${bare} script -qec 'sh ${project.path('attach')}' /dev/null`)
    const second = acting(await waitForFile(`${file}.two`, (text) => text.endsWith('\n')))
    expect(second).toEqual({ person: false, reason: expect.stringMatching(/^run by session box /) })
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
})

// The session log records the caller: an agent by name, else the user. Only the session's own programs may mark secrets.
const USER = userInfo().username
const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const VALUE = 'the-word-that-one-agent-wants-gone'
const SHOWS = ['sh', '-c', `read x; echo "say ${VALUE} aloud"; cat`]

const acts = async (home: Hm, id: string): Promise<unknown> => (await home.json(['status', id]))['acts']
const recordingOf = (home: Hm, id: string): string => join(home.home, `${id}.cast`)

/** A session of an agent, in which commands are typed. */
async function agentSession(home: Hm, agent: string): Promise<(line: string) => Promise<void>> {
  const { code, stderr } = await home.run(['run', '--id', agent, '--detach', '--', 'sh'], {
    env: { PATH, HEIMDALL_AGENT_ID: agent },
  })
  if (code !== 0) throw new Error(stderr)
  return async (line) => void (await home.run(['send', agent, line, '--enter']))
}

async function recorded(home: Hm, id: string): Promise<void> {
  await home.session(id, SHOWS, ['--record', recordingOf(home, id)])
}

async function showsWhatItSays(home: Hm, id: string): Promise<string> {
  await home.run(['send', id, 'go', '--enter'])
  return await until('the words to be recorded', () => {
    // The first line has the command.
    const text = readFileSync(recordingOf(home, id), 'utf8').split('\n').slice(1).join('\n')
    return /say .* alou/.test(text) ? text : undefined
  })
}

test.each(['no process', 'one of the session'])(
  'another agent that claims to be %s has nothing covered',
  async (who) => {
    const home = hm()
    await recorded(home, 'quiet')
    const type = await agentSession(home, 'brisk-heron')
    const claimed = who === 'no process' ? '' : String(readHolder(home.dir, 'quiet')?.childPid)
    const answers = join(home.home, 'answers')
    await type(`${fixture('secret-teller').join(' ')} ${home.socket('quiet')} ${VALUE} ${claimed} >${answers}`)
    const answered = await waitForFile(answers, (text) => text.includes('statusResp'))
    expect(answered).toMatch(/"code":"SESSION_REFUSED","message":"only programs of session quiet /)
    expect(await showsWhatItSays(home, 'quiet')).toContain(VALUE)
    expect(await acts(home, 'quiet')).toMatchObject([
      { act: 'secrets refused', by: 'an unidentified client', what: '1 value' },
    ])
  },
)

test('another agent that says who it is has nothing covered, and is named', async () => {
  const home = hm()
  await recorded(home, 'quiet')
  const type = await agentSession(home, 'brisk-heron')
  await type(`exec ${fixture('secret-shim').join(' ')} ${home.socket('quiet')} ${VALUE}`)
  const refused = await until('the refusal', async () => ((await acts(home, 'quiet')) as unknown[])[0])
  expect(refused).toMatchObject({
    act: 'secrets refused',
    by: expect.stringMatching(/^a shim by brisk-heron \(session brisk-heron, process \d+\)$/) as string,
  })
  expect(await showsWhatItSays(home, 'quiet')).toContain(VALUE)
})

test('a program of the session is heard, and both the record and the recording say who asked', async () => {
  const home = hm()
  const [node, teller] = fixture('secret-shim')
  const script = `${node} ${teller} ${home.socket('own')} ${VALUE}; ${SHOWS[2]}`
  const { code } = await home.run(
    ['run', '--id', 'own', '--detach', '--record', recordingOf(home, 'own'), '--', 'sh', '-c', script],
    {
      env: { HEIMDALL_AGENT_ID: 'amber-otter' },
    },
  )
  expect(code).toBe(0)
  const [told] = await until('it to be told', async () => {
    const found = (await acts(home, 'own')) as readonly { readonly by: string }[]
    return found.length > 0 ? found : undefined
  })
  expect(told).toMatchObject({ act: 'secrets', what: '1 value' })
  expect(told?.by).toMatch(/^a shim by amber-otter \(session own, process \d+\)$/)
  const cast = await showsWhatItSays(home, 'own')
  expect(cast).not.toContain(VALUE)
  const marks = cast.split('\n').filter((line) => /^\[[\d.]+,"m",/.test(line))
  expect(marks).toEqual([expect.stringContaining('1 value is covered from here on: a shim by amber-otter')])
  await home.run(['kill', 'own', '--wait'])
  expect(readExitRecord(home.dir, 'own')?.acts).toMatchObject([{ act: 'secrets' }, { act: 'kill' }])
})

test('an agent renames and kills what it has started, and no other session; the record names it, or the person', async () => {
  const home = hm()
  for (const id of ['first', 'second', 'third']) await home.session(id, ['cat'])
  const type = await agentSession(home, 'brisk-heron')
  await type('for id in own mine; do hm run --id $id --detach -- cat; done; hm rename own renamed')
  await until('the new id', async () => (await home.run(['status', 'renamed'])).code === 0)
  expect(await acts(home, 'renamed')).toMatchObject([
    {
      act: 'rename',
      what: 'own is now renamed',
      by: expect.stringMatching(/^hm rename by brisk-heron \(session brisk-heron, process \d+\)$/) as string,
    },
  ])
  // Whatever it says of itself.
  await type('BB_AGENT=somebody HEIMDALL_AGENT_ID=else hm kill mine')
  await until('the end', () => readExitRecord(home.dir, 'mine') !== undefined)
  expect(readExitRecord(home.dir, 'mine')?.ended_by).toMatch(
    /^hm kill by brisk-heron \(session brisk-heron, process \d+\)$/,
  )
  const said = join(home.home, 'said')
  await type(
    `{ hm rename first x; echo $?; hm kill second; echo $?; hm kill --wait second; echo $?; } >${said} 2>&1; echo over >>${said}`,
  )
  const text = await waitForFile(said, (all) => all.includes('over'))
  expect(text.match(/^\d+$/gm)).toEqual(['1', '1', '1'])
  expect(text.match(/was not started by the agent that asks/g)).toHaveLength(3)
  const by = expect.stringMatching(/by brisk-heron \(/) as string
  expect(await acts(home, 'first')).toMatchObject([{ act: 'rename refused', by }])
  expect(await acts(home, 'second')).toMatchObject([
    { act: 'kill refused', by },
    { act: 'kill refused', by },
  ])
  await home.run(['kill', 'third', '--wait'])
  expect(readExitRecord(home.dir, 'third')?.ended_by).toMatch(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`))
})

test('a program of an agent that is called like the watcher may do no more than the agent', async () => {
  const home = hm()
  await home.session('second', ['cat'])
  const folder = join(home.home, 'dist')
  mkdirSync(folder)
  const kills = `import("${resolve('dist/client.js')}").then(async ({ connect }) => { const c = await connect({ socketPath: "${home.socket('second')}" }); await c.kill(); await c.status(); c.close() })`
  writeFileSync(join(folder, 'watcher.cjs'), kills)
  const type = await agentSession(home, 'brisk-heron')
  const said = join(home.home, 'said')
  await type(`node ${folder}/watcher.cjs; echo over >${said}`)
  await waitForFile(said, (text) => text.includes('over'))
  expect(await acts(home, 'second')).toMatchObject([
    {
      act: 'kill refused',
      by: expect.stringMatching(/by brisk-heron \(session brisk-heron, process \d+\)$/) as string,
    },
  ])
})

test('what a session asks a human an agent does not answer, by the client library or by hm pipe; a client without identity does, and is recorded as unidentified', async () => {
  const home = hm()
  await home.session('asks', ['sh', '-c', 'printf "Proceed? [y/N] "; read x; echo "got: $x"; sleep 1000'])
  const isAsking = async (): Promise<boolean> =>
    ((await home.json(['status', 'asks']))['needs_input'] as { value: boolean }).value
  await until('the question', isAsking)
  const type = await agentSession(home, 'brisk-heron')
  const done = join(home.home, 'done')
  const client = `import { connect } from "${resolve('dist/client.js')}"; const c = await connect({ socketPath: "${home.socket('asks')}" }); await c.input("y\\r"); await c.status(); c.close()`
  await type(
    `node --input-type=module -e '${client}'; { printf '\\001\\000\\000\\000\\002y\\r\\003\\000\\000\\000\\000'; sleep 1; } | hm pipe asks >/dev/null; echo over >${done}`,
  )
  await waitForFile(done, (text) => text.includes('over'))
  expect(await isAsking()).toBe(true)
  const by = expect.stringMatching(/by brisk-heron \(session brisk-heron, process \d+\)$/) as string
  expect(await acts(home, 'asks')).toMatchObject([
    { act: 'input refused', by },
    { act: 'input refused', by },
  ])

  const socket = connectTo(home.socket('asks'))
  socket.once('data', () => socket.write(Buffer.from('\u0001\0\0\0\u0002y\r', 'latin1')))
  await until('the answer', async () => (await home.run(['logs', 'asks'])).stdout.includes('got: y'))
  expect((await home.json(['status', 'asks']))['needs_input']).toMatchObject({ value: false, by: 'unidentified' })
  socket.destroy()
})

test('in the record of a run: who typed the answer, who ended it', async () => {
  const at = spine()
  const { run_id: run } = await at.detached('amber-otter', ['sh', '-c', 'printf "Proceed? [y/N] "; read x; cat'])
  await until('the question', () => at.sheets().some(({ wait }) => wait !== null))
  const person = atTerminal({ env: { ...at.env, TERM: 'xterm' }, home: at.home }, ['attach', 'amber-otter'])
  await person.see('Proceed?')
  person.type('y\r')
  const end = await until('the end of the wait', () => at.events(String(run)).find(({ type }) => type === 'wait_end'))
  expect(end['wait']).toMatchObject({ answered_by: USER })
  await at.run('hm', ['kill', 'amber-otter', '--wait'])
  const over = await until('the end', () => at.events(String(run)).find(({ type }) => type === 'session_end'))
  expect(over['session']).toMatchObject({
    ended_by: expect.stringMatching(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`)) as string,
    acts: [{ act: 'kill' }],
  })
})

// An agent cannot answer, or change, what is shown to a human.
/** Runs commands of `hm` in a session of their own, and says the exit code of each. */
async function inside(home: Hm, id: string, lines: readonly string[]): Promise<string[]> {
  const out = join(home.home, `${id}.out`)
  const own = launcher('hm').join(' ')
  const script = lines.map((line) => `${own} ${line} >/dev/null 2>&1; echo "${line}: $?" >> ${out}.part`)
  await home.session(id, ['sh', '-c', [...script, `mv ${out}.part ${out}`, 'cat'].join('\n')])
  await waitForFile(out)
  return readFileSync(out, 'utf8').trim().split('\n')
}

const waits = async (home: Hm, id: string): Promise<unknown> =>
  ((await home.json(['status', id]))['needs_input'] as { value: unknown }).value

test('an agent neither says what another waits for, nor answers it', async () => {
  const home = hm()
  await home.session('vic', ['cat'])
  await home.run(['report', 'vic', '--needs-input', 'Allow?'])
  expect(await inside(home, 'att', ['report vic --working', 'send vic yes --enter', 'attach vic'])).toEqual([
    'report vic --working: 4',
    'send vic yes --enter: 4',
    'attach vic: 4',
  ])
  expect(await waits(home, 'vic')).toBe(true)
})

test('nor does it answer its own question; of itself it may speak, and to one that does not wait', async () => {
  const home = hm()
  await home.session('vic', ['cat'])
  const found = await inside(home, 'att', [
    'send vic hello --enter',
    'report --needs-input Allow?',
    'send att yes --enter',
    'report att --working',
  ])
  expect(found).toEqual([
    'send vic hello --enter: 0',
    'report --needs-input Allow?: 0',
    'send att yes --enter: 4',
    'report att --working: 0',
  ])
})
