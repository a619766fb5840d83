// `hm run --detach -- sh -c 'echo build failed; exit 1'`, then `hm logs` and `hm peek`: nothing was left of what the session said.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHolder } from '../../src/sessions/session-files.ts'
import { type Hm, hm } from '../hm/hm.ts'
import { waitForDeath } from '../support/programs.ts'
import { scaled } from '../support/scale.ts'
import { until, waitForFile, waitForNoFile } from '../support/wait.ts'

/** Nothing of the session answers any more. */
async function ended(home: Hm, id: string): Promise<void> {
  await waitForNoFile(home.socket(id))
  await waitForNoFile(join(home.dir, `${id}.pid`))
}

const lines = (text: string): string[] => text.split(/\r?\n/).filter((line) => line !== '')

test('a session that ended within milliseconds still says what it said, every time', async () => {
  const home = hm()
  for (let n = 0; n < scaled(3, 100); n += 1) {
    await home.session('x', ['sh', '-c', `echo build failed ${n}; exit 1`])
    await ended(home, 'x')
    const [logs, peek] = await Promise.all([home.run(['logs', 'x']), home.run(['peek', 'x'])])
    expect([logs.code, lines(logs.stdout)]).toEqual([0, [`build failed ${n}`]])
    expect([peek.code, lines(peek.stdout)]).toEqual([0, [`build failed ${n}`]])
    for (const { stderr } of [logs, peek]) expect(stderr).toMatch(/session x has ended with exit code 1 at 20/)
  }
})

test('logs, peek, export and status answer after the end, in JSON as well', async () => {
  const home = hm()
  await home.session('x', ['sh', '-c', 'printf "\\033]0;my title\\007one\\ntwo\\nthree\\n"; exit 3'])
  await ended(home, 'x')
  const records = lines((await home.run(['logs', 'x', '--json'])).stdout).map((line) => JSON.parse(line) as unknown)
  expect(records).toMatchObject([
    { type: 'output', offset: 0 },
    { type: 'exit', code: 3 },
  ])
  expect(lines((await home.run(['logs', 'x', '--tail', '2', '-f'])).stdout)).toEqual(['two', 'three'])
  expect((await home.run(['logs', 'x', '--raw'])).stdout).toBe('\u001b]0;my title\u0007one\r\ntwo\r\nthree\r\n')
  expect(await home.json(['peek', 'x'])).toMatchObject({ cols: 220, rows: 50, ended: true, whole: true })
  expect(await home.json(['status', 'x'])).toMatchObject({ alive: false, exit_code: 3, title: 'my title', cols: 220 })
  const { cast } = await home.json(['export', 'x'])
  const [header, event] = lines(cast as string).map((line) => JSON.parse(line) as unknown)
  expect(header).toMatchObject({
    version: 2,
    width: 220,
    height: 50,
    command: expect.stringMatching(/^sh -c/) as string,
  })
  expect(event).toEqual([0, 'o', expect.stringContaining('one\r\ntwo')])
  for (const name of readdirSync(home.dir)) expect(statSync(join(home.dir, name)).mode & 0o777, name).toBe(0o600)
})

test('the last screen is the one that was there, also when more was said than is kept', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  const draw = 'printf "\\033[2J\\033[5;10Hhere\\033[7;3H\\033[1mbold\\033[0m"'
  await home.session('x', ['sh', '-c', `seq 1 30000; ${draw}; while [ ! -e ${go} ]; do sleep 0.05; done; exit 2`])
  const seen = await until('the drawing', async () => {
    const screen = await home.json(['peek', 'x'])
    return (screen['lines'] as string[])[6]?.includes('bold') === true && screen
  })
  const said = (await home.run(['logs', 'x', '--raw'])).stdout
  writeFileSync(go, '')
  await ended(home, 'x')
  expect(await home.json(['peek', 'x'])).toEqual({ ...seen, ended: true })
  expect((await home.run(['logs', 'x', '--raw'])).stdout).toBe(said)
  expect(said.length).toBeLessThanOrEqual(65_536)
})

test('of a supervisor that was killed, all but the last second is left', async () => {
  const home = hm()
  await home.session('x', ['sh', '-c', 'trap "" HUP; echo before; while :; do sleep 0.1; done'])
  await waitForFile(join(home.dir, 'x.kept'), (text) => text.includes('before'))
  const { supervisorPid = 0 } = readHolder(home.dir, 'x') ?? {}
  process.kill(supervisorPid, 'SIGKILL')
  await waitForDeath(supervisorPid)
  const running = await home.run(['logs', 'x'])
  expect([lines(running.stdout), running.stderr]).toEqual([['before'], expect.stringContaining('lost its supervisor')])
  expect(lines((await home.run(['peek', 'x'])).stdout)).toEqual(['before'])
  await home.run(['kill', 'x'])
  expect((await home.run(['logs', 'x'])).stderr).toContain('has ended with exit code 137')
})

test('it goes with clean, with the next session of the id, and with its age; without scrollback nothing is kept', async () => {
  const home = hm()
  const kept = (id: string): string => join(home.dir, `${id}.kept`)
  for (const id of ['old', 'again', 'aged']) await home.session(id, ['echo', 'said'])
  for (const id of ['old', 'again', 'aged']) await ended(home, id)
  const past = new Date(Date.now() - 31 * 86_400_000)
  utimesSync(kept('aged'), past, past)

  await home.session('again', ['sleep', '1000'])
  expect(existsSync(kept('again'))).toBe(false)

  await home.session('silent', ['sh', '-c', 'echo said'], ['--scrollback-bytes', '0'])
  await ended(home, 'silent')
  expect([existsSync(kept('silent')), existsSync(kept('aged')), existsSync(kept('old'))]).toEqual([false, false, true])
  expect((await home.run(['logs', 'silent'])).code).toBe(1)

  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  utimesSync(kept('old'), yesterday, yesterday)
  expect((await home.run(['clean', '--force'])).stdout).toContain('old.kept')
  expect([existsSync(kept('old')), (await home.run(['logs', 'old'])).code]).toEqual([false, 1])
})

test('a renamed session says it under its new id', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await home.session('before', ['sh', '-c', `echo said; while [ ! -e ${go} ]; do sleep 0.05; done`])
  await waitForFile(join(home.dir, 'before.kept'))
  await home.run(['rename', 'before', 'after'])
  writeFileSync(go, '')
  await ended(home, 'after')
  expect(lines((await home.run(['logs', 'after'])).stdout)).toEqual(['said'])
  expect(readdirSync(home.dir).filter((name) => name.startsWith('before.k'))).toEqual([])
  expect(readFileSync(join(home.dir, 'after.kept'), 'utf8')).toContain('said')
})

test('what cannot be removed of an earlier session changes nothing for this one', async () => {
  const home = hm()
  mkdirSync(join(home.dir, 'past.kept', 'no file'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home.dir, 'aged.kept'), '')
  for (const name of ['past.kept', 'aged.kept']) utimesSync(join(home.dir, name), 1, 1)
  expect((await home.run(['run', '--inline', '--id', 'x', '--', 'sh', '-c', 'exit 7'])).code).toBe(7)
  expect(readdirSync(home.dir).filter((name) => /^(past|aged)/.test(name))).toEqual(['past.kept'])
})
