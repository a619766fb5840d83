// heimdall mcp secrets: a person puts values into a store that only its user can read, and nobody is shown them again.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { type Ending, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

const storeOf = (home: string): string => join(home, '.local/state/heimdall/secrets/secrets.json')
const stored = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

/** A command line that a person types, at a terminal of their own. */
function person(home: string, line: string): ReturnType<typeof ownTerminal> {
  const [node, bin] = launcher('heimdall')
  return ownTerminal(['/bin/sh', '-c', line.replaceAll('heimdall', `'${node}' '${bin}'`)], {
    cwd: home,
    env: { HOME: home },
  })
}

async function done(terminal: ReturnType<typeof ownTerminal>): Promise<string> {
  expect(await terminal.ended, terminal.written()).toBe(0)
  return terminal.written()
}

test('a value is asked for, not shown, and kept for its user alone', async () => {
  const home = temporaryFolder()
  const terminal = person(home, 'heimdall mcp secrets add github_token')
  await terminal.see('Value of github_token: ')
  terminal.type('pas☃x\u007f-quiet\r')
  expect(await done(terminal)).not.toMatch(/pas|quiet/)
  expect(stored(storeOf(home))).toMatchObject({ github_token: { value: 'pas☃-quiet', source: 'file' } })
  expect(statSync(storeOf(home)).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(storeOf(home))).mode & 0o777).toBe(0o700)
})

test('or read from stdin, quotes and newlines and all, but for the last one; list and remove know names only', async () => {
  const home = temporaryFolder()
  const value = '-----BEGIN\n"quoted" ☃ \\n\n-----END'
  writeFileSync(join(home, 'key'), `${value}\n`)
  await done(
    person(
      home,
      'heimdall mcp secrets add deploy/key < key && heimdall mcp secrets add deploy/key < key && echo other-value | heimdall mcp secrets add b',
    ),
  )
  expect(stored(storeOf(home))).toMatchObject({ 'deploy/key': { value }, b: { value: 'other-value' } })
  const env = { HOME: home }
  for (const flags of [[], ['--json']]) {
    const { code, stdout } = await runLauncher('sub', ['secrets', 'list', ...flags], { env })
    expect(code).toBe(0)
    expect(stdout).toContain('deploy/key')
    expect(stdout).not.toMatch(/BEGIN|quoted|other-value/)
  }
  const gone = person(home, 'heimdall mcp secrets remove b missing')
  expect(await gone.ended).toBe(3)
  await done(person(home, 'heimdall mcp secrets remove b'))
  expect(Object.keys(stored(storeOf(home)) as object)).toEqual(['deploy/key'])
})

test('an agent can neither add nor remove', async () => {
  const home = temporaryFolder()
  for (const words of [
    ['add', 'a'],
    ['remove', 'a'],
  ]) {
    const { code, stderr } = await runLauncher('heimdall', ['mcp', 'secrets', ...words], {
      env: { HOME: home },
      stdin: 'a value of an agent',
    })
    expect(code).toBe(4)
    expect(stderr).toContain('needs a human')
    expect(stderr).not.toContain('value of an agent')
  }
})

test.each([
  ['a flag', ['a', '--value', 'typed-on-the-line'], '--value is not accepted'],
  ['a name', ['-w'], ''],
  ['a keychain', ['a', '--source', 'keychain'], 'secret-tool store'],
])('%s is refused with words, and nothing is shown', async (_, words, said) => {
  const { code, stderr } = await runLauncher('heimdall', ['mcp', 'secrets', 'add', ...words], {
    env: { HOME: temporaryFolder() },
    stdin: '',
  })
  expect(code).toBe(2)
  expect(stderr).toContain(said)
  expect(stderr).not.toContain('typed-on-the-line')
})

test.each([
  ['nothing', "printf ''"],
  ['a zero byte', "printf 'a\\0b'"],
  ['no UTF-8', "printf '\\377\\376abc'"],
  ['too much', "head -c 70000 /dev/zero | tr '\\0' x"],
])('%s is no value', async (_, from) => {
  const home = temporaryFolder()
  expect(await person(home, `${from} | heimdall mcp secrets add a`).ended).toBe(2)
})

test('a store that others can read, or that is no store, is refused without a word of it', async () => {
  const home = temporaryFolder()
  const path = join(home, 'theirs.json')
  const list = (): Promise<Ending> =>
    runLauncher('heimdall', ['mcp', 'secrets', 'list'], { env: { HOME: home, SUB_SECRETS_PATH: path } })
  writeFileSync(path, '{"a":{"value":"of-the-origin"}}', { mode: 0o644 })
  chmodSync(path, 0o644)
  expect(await list()).toMatchObject({ code: 4, stderr: expect.stringContaining('chmod 600') as string })
  chmodSync(path, 0o600)
  expect((await list()).stdout).toMatch(/^a\b/m)
  for (const text of ['of-the-origin', '["of-the-origin"]', '{"a":"of-the-origin"}']) {
    writeFileSync(path, text)
    const { code, stderr } = await list()
    expect(code).toBe(8)
    expect(stderr).not.toContain('of-the-origin')
  }
})
