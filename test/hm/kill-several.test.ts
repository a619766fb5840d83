// `hm kill` with several ids: what becomes of each is said, and one that cannot be ended keeps none of the others.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { isRunning } from '../support/programs.ts'
import { until } from '../support/wait.ts'
import { hm } from './hm.ts'

test('all that are named end, with those before and behind one that is not there', async () => {
  const home = hm()
  for (const id of ['a', 'b', 'c']) await home.session(id, ['sleep', '1000'])
  const pids = ['a', 'c'].map((id) => readHolder(home.dir, id)?.supervisorPid ?? 0)
  const { code, stdout, stderr } = await home.run(['kill', 'a', 'nobody', 'c', 'a', '--wait'])
  expect(stdout.split('\n')).toEqual(['Session a ended with exit code 143', 'Session c ended with exit code 143', ''])
  expect(stderr).toBe('error: No session found: nobody\nhint: hm ls lists the sessions\n')
  expect(code).toBe((await home.run(['kill', 'nobody'])).code)
  expect(pids.filter(isRunning)).toEqual([])
  expect(await home.json(['ls'])).toMatchObject({ sessions: [{ id: 'b' }] })
})

test('--json has one object with what became of each, in the order in which they were named', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  const { code, stdout, stderr } = await home.run(['kill', '--json', '--wait', 'nobody', 'a'])
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    command: 'hm kill',
    data: {
      sessions: [
        {
          id: 'nobody',
          ended: false,
          exit_code: null,
          error: { code: 'SESSION_NOT_FOUND', message: 'No session found: nobody', hint: 'hm ls lists the sessions' },
        },
        { id: 'a', ended: true, exit_code: 143, error: null },
      ],
    },
    error: null,
  })
  expect([code !== 0, stderr]).toEqual([true, ''])
})

test('one id is answered as ever, also when it is named twice', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  expect(await home.json(['kill', 'a', 'a', '--wait'])).toEqual({ id: 'a', ended: true, exit_code: 143 })
})

test('a word that is no id ends nothing', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  const { code, stderr } = await home.run(['kill', 'a', '../b'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('"../b" is not a valid id') as string])
  expect(await home.json(['ls'])).toMatchObject({ sessions: [{ id: 'a' }] })
  expect(readExitRecord(home.dir, 'a')).toBeUndefined()
})

test('the time of --timeout is for all of them, and says of each whether it was enough', async () => {
  const home = hm()
  await home.session('slow', ['sh', '-c', 'trap "" TERM HUP; >ready; while :; do sleep 1; done'])
  await until('signals are ignored', () => existsSync(join(home.home, 'ready')))
  await home.session('quick', ['sleep', '1000'])
  expect((await home.json(['kill', 'quick', '--wait', '--timeout', '60s']))['ended']).toBe(true)
  const { code, stdout } = await home.run(['kill', 'slow', 'quick', '--json', '--wait', '--timeout', '200ms'])
  const { data } = JSON.parse(stdout) as { data: { sessions: { id: string; error: { code: string } | null }[] } }
  expect(data.sessions.map(({ id, error }) => [id, error?.code])).toEqual([
    ['slow', 'SESSION_WAIT_TIMEOUT'],
    ['quick', undefined],
  ])
  expect(code).toBe(6)
})
