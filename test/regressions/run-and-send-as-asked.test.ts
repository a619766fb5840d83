// Small things of `hm run` and `hm send` that a person meets in the first week.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { until } from '../support/wait.ts'

test('a file that is not executable, and a folder, are called what they are', async () => {
  const home = hm()
  const refusal = async (...command: string[]): Promise<[number | null, string]> => {
    const { code, stderr } = await home.run(['run', '--detach', '--', ...command])
    return [code, stderr]
  }
  writeFileSync(join(home.home, 'my-script'), 'echo hello\n', { mode: 0o644 })
  mkdirSync(join(home.home, 'folder'))
  expect(await refusal('./my-script')).toEqual([
    127,
    expect.stringMatching(/cannot run "\.\/my-script": it is not executable\nhint: chmod/),
  ])
  expect(await refusal('./folder')).toEqual([127, expect.stringMatching(/cannot run "\.\/folder": it is a folder/)])
  expect(await refusal('./nothing')).toEqual([127, expect.stringMatching(/cannot run "\.\/nothing": no such program/)])
  // Found by name: what PATH has, or nothing.
  const { code, stderr } = await home.run(['run', '--detach', '--', 'my-script'], {
    env: { PATH: `${home.home}:/bin:/usr/bin` },
  })
  expect([code, stderr]).toEqual([127, expect.stringContaining('it is not executable') as string])
  chmodSync(join(home.home, 'my-script'), 0o755)
  expect((await home.run(['run', '--detach', '--', './my-script'])).code).toBe(0)
})

test('run into a reader that goes away ends with the code of the command', async () => {
  const home = hm()
  const [node, bin] = launcher('hm')
  // The reader is gone before the second line is written: the command waits until it sees that.
  const gone = join(home.home, 'gone')
  const command = `echo one; while [ ! -e ${gone} ]; do sleep 0.05; done; echo two; echo three; exit 7`
  const line = `{ "$1" "$2" run --id x -- sh -c "$3"; echo code $? >&2; } | { head -1; touch ${gone}; }`
  const { stdout, stderr } = await runProgram(['sh', '-c', line, 'sh', node, bin, command], {
    env: home.env,
    cwd: home.home,
  })
  expect([stdout, stderr]).toEqual(['one\r\n', expect.stringContaining('code 7') as string])
})

test('run whose reader has gone says that the session goes on, and how to end it', async () => {
  const home = hm()
  const [node, bin] = launcher('hm')
  const said = join(home.home, 'said')
  const line = `{ "$1" "$2" run --id x -- sh -c "$3" 2> ${said}; echo code $? >&2; } | head -1`
  const ended = runProgram(['sh', '-c', line, 'sh', node, bin, 'while echo one; do sleep 0.05; done'], {
    env: home.env,
    cwd: home.home,
  })
  await until('the word', () => existsSync(said) && readFileSync(said, 'utf8').includes('\n'))
  expect(readFileSync(said, 'utf8')).toMatch(/^\[nobody reads .*; session x goes on .*: hm kill x ends it\]\n$/)
  expect((await home.run(['kill', 'x'])).code).toBe(0)
  expect((await ended).stderr).toMatch(/code 1\d\d/)
  expect(readFileSync(said, 'utf8').match(/\n/g)).toHaveLength(1)
})

test('a key alone is a key alone: no empty paste before it', async () => {
  const home = hm()
  const program =
    'stty raw -echo; printf "\\033[?2004h"; echo ready; dd bs=1 count=2 2>/dev/null | od -An -tx1; sleep 1000'
  await home.session('x', ['sh', '-c', program])
  await until('the mode', async () => {
    const { modes } = await home.json(['status', 'x'])
    return (modes as Record<string, boolean>)['bracketed_paste'] === true
  })
  await home.run(['send', 'x', '--key', 'tab'])
  await home.run(['send', 'x', '--key', 'tab'])
  await until('two bytes', async () => (await home.run(['logs', 'x'])).stdout.includes(' 09 09'))
  expect(await home.json(['send', 'x', '--key', 'tab'])).toMatchObject({ written_bytes: 1, bracketed: false })
})
