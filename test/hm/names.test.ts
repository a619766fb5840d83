// Session names: choosing, renaming, and names that belong to another session.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { isRunning, launcher, runProgram } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { BIN, shellIn } from '../support/shell.ts'
import { until } from '../support/wait.ts'
import { needs } from '../support/needs.ts'
import { hm } from './hm.ts'

// A session's agent is fixed where the session is started: nothing inside it changes that.
async function withVictim(): Promise<TemporaryProject> {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])
  await project.run('bb', ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'web'])
  return project
}

async function holders(project: TemporaryProject): Promise<unknown> {
  const { stdout } = await project.run('heimdall', ['claim', 'list', '--all', '--json'])
  return (JSON.parse(stdout) as { data: { agent_id: string }[] }).data.map((claim) => claim.agent_id)
}

test('a session that is started inside a session is itself, whatever name it is given', async () => {
  const project = await withVictim()
  const sessions = hm()
  const shell = await shellIn(sessions, project, 'outer')
  const start = (env: string, id: string): string =>
    `${env} HOME='${sessions.home}' hm run --id ${id} --detach --wait -- /bin/sh -c`
  const secret = 'HEIMDALL_SECRET=guess'
  const names = ['BB_AGENT=amber-otter', 'HEIMDALL_AGENT_ID=amber-otter', 'HEIMDALL_PROCESSES=ps BB_AGENT=amber-otter']
  for (const [index, name] of [...names, `${secret} BB_AGENT=amber-otter`].entries()) {
    await shell.run(
      `${start(name, `inner-${index}`)} 'unset HEIMDALL_SECRET; HOME=${project.home} heimdall claim release --json >&2'`,
    )
    expect([name, await holders(project)]).toEqual([name, ['amber-otter']])
  }
  // Also where the id is not given, so that the session is not started early.
  await shell.run(`BB_AGENT=amber-otter HOME='${sessions.home}' hm run --detach --wait -- heimdall claim release`)
  expect(await holders(project)).toEqual(['amber-otter'])
})

test('the first program of a session cannot name another by putting one in its own place', async () => {
  const project = await withVictim()
  const line = `exec env BB_AGENT=amber-otter PATH='${BIN}:'"$PATH" heimdall claim release --json`
  const words = ['run', '--id', 'swap', '--detach', '--wait', '--workdir', project.root, '--', '/bin/bash', '-c', line]
  expect(await hm().run(words, { env: project.env })).toMatchObject({ code: 4 })
  expect(await holders(project)).toEqual(['amber-otter'])
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ to_agent: 'amber-otter' }] })
})

test('a session that is started from outside for an agent is that agent, also when its first program is replaced', async () => {
  const project = await withVictim()
  const line = `exec env -i PATH='${BIN}:'"$PATH" HOME='${project.home}' heimdall claim release --json`
  const words = ['run', '--id', 'own', '--detach', '--wait', '--workdir', project.root, '--', '/bin/bash', '-c', line]
  const ran = await hm().run(words, { env: { ...project.env, BB_AGENT: 'amber-otter' } })
  expect([ran.code, await holders(project)]).toEqual([0, []])
})

test('a variable that names another source of processes makes no session look dead', async () => {
  const project = temporaryProject()
  const shell = await shellIn(hm(), project, 'alive')
  expect(await shell.run('heimdall claim docs')).toMatchObject({ code: 0 })
  for (const source of ['ps', 'ps-without-environment']) {
    const taken = await project.run('heimdall', ['claim', 'takeover', 'docs', '--task', 'T-2', '--json'], {
      env: { HEIMDALL_PROCESSES: source },
    })
    expect([source, taken.code]).not.toEqual([source, 0])
  }
  expect(await holders(project)).toEqual(['alive'])
})

test('a key file that is not the agent’s secret proves nothing, and binds no session to the agent', async () => {
  const project = await withVictim()
  const { stdout } = await project.run('heimdall', ['agent', 'list', '--json'])
  expect(stdout).toContain('amber-otter')
  const keys = project.git('rev-parse', '--git-common-dir').trim()
  const shell = await shellIn(hm(), project, 'late', { BB_AGENT: 'amber-otter' })
  const folder = `${keys}/heimdall/keys`
  expect(await shell.run(`for f in ${folder}/*.key; do echo wrong >"$f"; done`)).toMatchObject({ code: 0 })
  expect(await shell.run('heimdall claim release --json')).toMatchObject({
    text: expect.stringContaining('IDENTITY_UNPROVEN'),
  })
  expect(await shell.whoami()).toMatchObject({ proof: 'none' })
  expect(await shell.run('heimdall claim release --json')).toMatchObject({
    text: expect.stringContaining('IDENTITY_UNPROVEN'),
  })
  expect(await holders(project)).toEqual(['amber-otter'])
})

test('an agent that tries to adopt without evidence at a terminal is refused, on record under its own name', async () => {
  const project = await withVictim()
  const shell = await shellIn(hm(), project, 'box')
  expect(await shell.run('heimdall claim docs')).toMatchObject({ code: 0 })
  const tried = await shell.run(`script -qec 'bb-init --adopt amber-otter' /dev/null`)
  expect(tried.text).toContain('PERSON_REQUIRED')
  const { stdout } = await project.run('heimdall', ['claim', 'history', '--type', 'REFUSED', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    data: [{ from_agent: 'box', to_agent: 'amber-otter', payload: { code: 'PERSON_REQUIRED' } }],
  })
})

// Several `hm run` without --id at once each get a free name.
test('runs of one command at the same time each get a number of their own', async () => {
  const home = hm()
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => home.run(['run', '--detach', '--', 'sleep', '1000'])),
  )
  expect(answers.map(({ code, stderr }) => [code, stderr])).toEqual(answers.map(() => [0, '']))
  const ids = answers.map(({ stdout }) => /^Session (\S+) runs/.exec(stdout)?.[1])
  expect(new Set(ids)).toEqual(new Set(['sleep', 'sleep-2', 'sleep-3', 'sleep-4']))
})

test('an id that was asked for is still refused when it is taken', async () => {
  const home = hm()
  const start = ['run', '--detach', '--id', 'mine', '--', 'sleep', '1000']
  const answers = await Promise.all([home.run(start), home.run(start)])
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([0, 1]))
})

// A rename that fails half-way leaves the old name complete.
test.each(['new.log', 'new.sock', 'new.pid.lock'])(
  'where %s is in the way, the session keeps its old id, whole',
  async (obstacle) => {
    const home = hm()
    await home.session('old', ['sh', '-c', 'echo said; exec cat'])
    await until('what it said to be kept', () => existsSync(join(home.dir, 'old.kept')))
    const files = (): string[] => readdirSync(home.dir).filter((name) => !name.endsWith('.lock'))
    const before = files()
    // A folder, which is neither replaced nor taken for one's own.
    const path = join(home.dir, obstacle)
    mkdirSync(path)
    const refused = await home.run(['rename', 'old', 'new'])
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('new')])
    rmdirSync(path)
    expect(files()).toEqual(before)
    expect(await home.json(['status', 'old'])).toMatchObject({ id: 'old', alive: true })
    expect((await home.run(['logs', 'old'])).stdout).toContain('said')

    expect(await home.json(['rename', 'old', 'new'])).toMatchObject({ id: 'new' })
    expect(files()).toEqual(before.map((name) => name.replace(/^old/, 'new')))
  },
)

test('a session whose child ends while its new id is still being waited for ends under its old one', async () => {
  const home = hm()
  await home.session('held', ['sh', '-c', 'read x'])
  await home.session('late', ['sh', '-c', 'read x; exit 5'])
  const { supervisor_pid: pid } = (await home.json(['status', 'late'])) as { supervisor_pid: number }
  const held = await connect({ socketPath: home.socket('held') })
  const late = await connect({ socketPath: home.socket('late') })
  const heldEnds = held.subscribe()
  const lateEnds = late.subscribe()
  await held.input('\r')
  for await (const event of heldEnds) if (event.type === 'exit') break
  // It answers for a second more, and has its id until then.
  const renamed = late.rename('held').catch((error: unknown) => error)
  await late.input('\r')
  for await (const event of lateEnds) if (event.type === 'exit') break
  expect(await renamed).toMatchObject({ code: expect.stringMatching(/^SESSION_(REFUSED|LOST)$/) as string })
  await until('the session to be gone', () => !isRunning(pid))
  const record = (id: string): unknown => JSON.parse(readFileSync(join(home.dir, `${id}.exit.json`), 'utf8'))
  expect([record('held'), record('late')]).toMatchObject([
    { id: 'held', exit_code: 0 },
    { id: 'late', exit_code: 5 },
  ])
  expect(readdirSync(home.dir).filter((name) => /\.(pid|sock|lock)$/.test(name))).toEqual([])
})

// Records: a refused rename is not logged, an invalid record is skipped, an unreadable folder is one error line.
test('a rename is logged when it is done, and one that was refused is not', async () => {
  const home = hm()
  await home.session('a', ['cat'])
  await home.session('b', ['cat'])
  expect((await home.run(['rename', 'a', 'b'])).code).not.toBe(0)
  const connection = await connect({ socketPath: home.socket('a') })
  await expect(connection.rename('../x\n2026 info forged')).rejects.toThrow(/refused/)
  await connection.rename('c')
  connection.close()
  const log = readFileSync(join(home.dir, 'c.log'), 'utf8')
  expect(log.split('\n').filter((line) => line.includes('rename:') || line.includes('forged'))).toEqual([
    expect.stringMatching(/rename: a is now c, ./),
  ])
})

const RECORD = {
  id: 'x',
  exit_code: 1,
  signal: null,
  reason: 'exit',
  pid: 5,
  supervisor_pid: 4,
  command: ['true'],
  cwd: '/',
  started_at: '2026-01-01T00:00:00.000Z',
  ended_at: '2026-01-01T00:00:00.000Z',
  output_bytes: 0,
  swept: 0,
  ended_by: null,
}

test('a record without what a record has is none', async () => {
  const home = hm()
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  const put = (id: string, record: unknown): void =>
    writeFileSync(join(home.dir, `${id}.exit.json`), JSON.stringify(record))
  put('whole', RECORD)
  put('bare', { id: 'x', exit_code: 1 })
  put('wordless', { ...RECORD, command: undefined })
  put('codeless', { ...RECORD, exit_code: 'one' })
  put('timeless', { ...RECORD, ended_at: 7 })
  const of = async (...words: string[]): Promise<string> => {
    const { code, stderr } = await home.run(words)
    return `${words.join(' ')}: ${code}${stderr.includes('    at ') ? ' with a stack' : ''}`
  }
  const ids = ['whole', 'bare', 'wordless', 'codeless', 'timeless']
  const found = await Promise.all(ids.flatMap((id) => [of('status', id), of('wait', id, '--for', 'exit')]))
  const [status, wait, ...others] = found
  expect([status, wait]).toEqual(['status whole: 0', 'wait whole --for exit: 0'])
  expect(others.filter((line) => !/: [1-9]\d*$/.test(line))).toEqual([])
  expect(await home.json(['ls', '--all'])).toMatchObject({ sessions: [{ id: 'whole', exit_code: 1 }] })
})

test('a folder that cannot be read is named, without a stack', async () => {
  needs('root')
  const home = hm()
  const dir = join(home.home, 's')
  mkdirSync(dir, { mode: 0o300 })
  chmodSync(home.home, 0o755)
  chownSync(dir, 65_534, 65_534)
  const asNobody = `
    const options = { uid: 65534, gid: 65534, stdio: 'inherit' }
    const { status } = require('node:child_process').spawnSync(process.execPath, process.argv.slice(1), options)
    process.exit(status)`
  for (const word of ['ls', 'attach']) {
    const words = [...launcher('hm').slice(1), word, '--socket-dir', dir]
    const { stderr } = await runProgram([process.execPath, '-e', asNobody, ...words], {
      cwd: home.home,
      env: { HOME: home.home },
    })
    expect(stderr).toContain(`cannot use ${dir}: EACCES`)
    expect(stderr).not.toContain('    at ')
  }
})

test('clean with --older-than 0s leaves nothing of a session that is gone, its lock included', async () => {
  const home = hm()
  await home.session('x', ['cat'])
  expect((await home.run(['kill', 'x', '--wait'])).code).toBe(0)
  writeFileSync(join(home.dir, 'y.pid.lock'), '')
  expect((await home.run(['clean', '--force', '--older-than', '0s'])).code).toBe(0)
  expect(readdirSync(home.dir)).toEqual([])
})
