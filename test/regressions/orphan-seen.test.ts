// After SIGKILL of a supervisor whose child ignores SIGHUP, `ls` said that there was nothing, and `status` or `wait` killed the child.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { type Hm, hm } from '../hm/hm.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning, waitForDeath } from '../support/programs.ts'
import { until, waitForFile } from '../support/wait.ts'

const ENDLESS = 'while :; do sleep 0.1; done'
const USER = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim()

/** A session whose supervisor was killed and whose child goes on. */
async function lose(home: Hm, id: string, script = ENDLESS): Promise<number> {
  const up = join(home.home, `${id}-up`)
  await home.session(id, ['sh', '-c', `trap "" HUP; touch ${up}; ${script}`])
  await waitForFile(up)
  const holder = readHolder(home.dir, id)
  process.kill(holder?.supervisorPid ?? 0, 'SIGKILL')
  await waitForDeath(holder?.supervisorPid ?? 0)
  return holder?.childPid ?? 0
}

eachSource(() => {
  test('queries see it and end nothing; kill ends it, and the record says who ended what', async () => {
    const home = hm()
    const child = await lose(home, 'x')
    expect((await home.run(['ls'])).stdout).toMatch(
      /^Active sessions:\n {2}x +lost, still running +.*sh -c trap "" HUP/,
    )
    expect(await home.json(['ls'])).toMatchObject({
      sessions: [{ id: 'x', alive: true, state: 'lost', pid: child, exit_code: null }],
    })
    expect(await home.json(['status', 'x'])).toMatchObject({ alive: true, state: 'lost', pid: child, exit_code: null })
    const { stdout } = await home.run(['status', 'x'])
    expect(stdout).toMatch(new RegExp(`still running: .*\\b${child} sh -c trap`))
    const answers = await Promise.all(
      [
        ['wait', 'x', '--timeout', '300ms'],
        ['wait', 'x', '--for', 'idle'],
        ['peek', 'x'],
        ['attach', 'x'],
        ['send', 'x', 'text'],
        ['record', 'x', 'out.cast'],
        ['clean'],
        ['ls', '--all'],
      ].map(async (words) => [words[0], (await home.run(words)).code]),
    )
    expect(answers.map(([name, code]) => `${name} ${code}`)).toEqual([
      'wait 6',
      'wait 1',
      'peek 1',
      'attach 1',
      'send 1',
      'record 1',
      'clean 0',
      'ls 0',
    ])
    expect((await home.run(['attach', 'x'])).stderr).toMatch(/supervisor of session x was killed; still running/)
    expect([isRunning(child), existsSync(join(home.dir, 'x.pid'))]).toEqual([true, true])

    const killed = await home.run(['kill', 'x'])
    expect([killed.code, killed.stdout]).toEqual([
      0,
      expect.stringMatching(/had lost its supervisor; ended \d processes/),
    ])
    expect(isRunning(child)).toBe(false)
    expect(readExitRecord(home.dir, 'x')).toMatchObject({
      reason: 'lost',
      exit_code: 137,
      command: ['sh', '-c', expect.stringContaining('trap') as string],
      ended_by: expect.stringMatching(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`)) as string,
      swept_processes: expect.arrayContaining([expect.stringMatching(new RegExp(`^${child} sh -c trap`))]) as string[],
    })
    expect((await home.run(['ls'])).stdout).toBe('No active sessions\n')
  })
})

test('wait sees the end of what was left, and then it is on record', async () => {
  const home = hm()
  const go = join(home.home, 'go')
  await lose(home, 'x', `while [ ! -e ${go} ]; do sleep 0.05; done`)
  const waiting = home.start(['wait', 'x', '--json'])
  await until('the wait to look', () => existsSync(`/proc/${waiting.pid}`))
  execFileSync('touch', [go])
  const { code, stdout } = await waiting.ended
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: { exit_code: 137 } }])
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ reason: 'lost', swept: 0, ended_by: null })
})

test('clean says what it would end, and ends it with --force', async () => {
  const home = hm()
  const child = await lose(home, 'x')
  // The list is in the order of process ids, which start over: the child is not always its first.
  expect((await home.run(['clean'])).stdout).toMatch(
    new RegExp(`would end session x, lost, still running: .*\\b${child} sh -c`),
  )
  expect(isRunning(child)).toBe(true)
  const { stdout } = await home.run(['clean', '--force'])
  expect(stdout).toMatch(new RegExp(`ended session x, lost, still running: .*\\b${child} sh -c`))
  expect(isRunning(child)).toBe(false)
  expect(readExitRecord(home.dir, 'x')).toMatchObject({ ended_by: expect.stringContaining('hm clean by') as string })
})

test('a start under the id ends what was left of it, and the log says so', async () => {
  const home = hm()
  const child = await lose(home, 'x')
  await home.session('x', ['sleep', '1000'])
  expect(isRunning(child)).toBe(false)
  expect(readFileSync(join(home.dir, 'x.log'), 'utf8')).toMatch(
    new RegExp(`lost, and what was left ended by a start of session x .*[:;] ${child} sh -c trap`),
  )
})

test('kill ends a session whose supervisor is stopped', async () => {
  const home = hm()
  await home.session('x', ['sleep', '1000'])
  const { supervisorPid = 0, childPid = 0 } = readHolder(home.dir, 'x') ?? {}
  process.kill(supervisorPid, 'SIGSTOP')
  const { code, stdout, stderr } = await home.run(['kill', 'x', '--wait'])
  expect([code, stdout]).toEqual([0, 'Session x ended with exit code 143\n'])
  expect(stderr).toContain('was stopped')
  expect([supervisorPid, childPid].filter(isRunning)).toEqual([])
  expect(readExitRecord(home.dir, 'x')).toMatchObject({
    reason: 'kill',
    ended_by: expect.stringMatching(`^hm kill by ${USER} `) as string,
  })
})
