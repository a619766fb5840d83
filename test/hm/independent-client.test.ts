// A client that knows only the text of seed 001 works against a real session.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../support/needs.ts'
import { startProgram } from '../support/programs.ts'
import { waitForFile } from '../support/wait.ts'
import { hm } from './hm.ts'

const CLIENT = join(import.meta.dirname, 'independent_client.py')

test('the seed’s example client: all output, in order, then the exit code (seed 001, example)', async () => {
  needs('python3')
  const home = hm()
  const go = join(home.home, 'go')
  await home.session('count', ['sh', '-c', `echo ready; until [ -e ${go} ]; do sleep 0.02; done; seq 1 20000; exit 7`])
  const client = startProgram(['python3', CLIENT, 'watch', home.socket('count')])
  // Replayed, so the client has subscribed; the rest is more than the session keeps for replay.
  await client.waitForLine(/^ready/)
  writeFileSync(go, '')
  const { code, stdout, stderr } = await client.ended
  expect(stderr).toBe('')
  expect(code).toBe(7)
  const numbers = [...stdout.matchAll(/^(\d+)\r?$/gm)].map(([, n]) => Number(n))
  expect(numbers).toEqual(Array.from({ length: 20_000 }, (_, i) => i + 1))
})

test('status is 15 bytes with the states of the seed (seed 001, status payload)', async () => {
  needs('python3')
  const home = hm()
  await home.session('s', ['sleep', '1000'])
  const { pid } = await home.json(['status', 's'])
  const { stdout, code } = await startProgram(['python3', CLIENT, 'status', home.socket('s')]).ended
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^pid=${String(pid)} idle_ms=\\d+ alive=1 state=(Idle|Active) state_ms=\\d+\\n$`))
})

test('INPUT, RESIZE, STATUS, an unknown frame and KILL while subscribed (seed 001, subscriber mode)', async () => {
  needs('python3')
  const home = hm()
  await home.session('all', ['bash', '--norc', '--noprofile', '-i'])
  const { stdout, stderr, code } = await startProgram(['python3', CLIENT, 'everything', home.socket('all')]).ended
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^size=True alive=1\nexit=\d+\n$/)
  // A child that a signal ended has 128 + n; the record says the same to those who come later.
  const recorded = /exit=(\d+)/.exec(stdout)?.[1]
  await waitForFile(join(home.dir, 'all.exit.json'))
  expect(String((await home.json(['status', 'all']))['exit_code'])).toBe(recorded)
})
