// Small lies and stack traces of a folder of sessions: a refused rename in the log, a record that is none, a folder that is closed.
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { hm } from '../hm/hm.ts'
import { launcher, runProgram } from '../support/programs.ts'

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

test.runIf(process.getuid?.() === 0)('a folder that cannot be read is named, without a stack', async () => {
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
