// A state folder that was another user's, or that others could write to, was used without a word: that user could answer
// for a person, rewrite the record and take the secrets away. A record with a second name was written to.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { temporaryFolder } from '../support/project.ts'
import { runsDir } from '../support/shim-client.ts'

const isRoot = process.getuid?.() === 0
const stateOf = (home: string): string => dirname(runsDir(home))

function stateFolder(): string {
  const home = temporaryFolder()
  mkdirSync(runsDir(home), { recursive: true, mode: 0o700 })
  for (const dir of ['secrets', 'imports', 'trusted']) mkdirSync(join(stateOf(home), dir), { mode: 0o700 })
  chmodSync(stateOf(home), 0o700)
  return home
}

const heimdall = async (home: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  await runLauncher('heimdall', [...words], { env: { HOME: home, ...env }, cwd: home })

/** A shim that ends by itself: `true` is no server, and its input is empty. */
const SHIM = ['shim', '--server-name=s', '--', 'true']

const DOORS: readonly (readonly string[])[] = [
  SHIM,
  ['run', '--agent', 'ana', '--', 'true'],
  ['runs', 'list'],
  ['runs', 'prune'],
  ['events', 'query'],
  ['approvals', 'list'],
  ['secrets', 'list'],
]

async function refusals(home: string, doors = DOORS): Promise<string[]> {
  const answers: string[] = []
  for (const words of doors) {
    const { code, stdout, stderr } = await heimdall(home, words)
    answers.push(
      `${words[0]} ${words[1]}: ${code} ${/belongs to user|can be \w+ by others|is a symbolic link/.exec(stdout + stderr)?.[0]}`,
    )
  }
  return answers
}

const refused = (why: string, doors = DOORS): string[] => doors.map((words) => `${words[0]} ${words[1]}: 4 ${why}`)

test.each([
  ['that anyone may write to', (dir: string) => chmodSync(dir, 0o777), 'can be written by others', true],
  ['of another user', (dir: string) => chownSync(dir, 65_534, 65_534), 'belongs to user', isRoot],
])('a state folder %s is refused by every door, and by doctor', async (_what, open, why, isPossible) => {
  if (!isPossible) return
  const home = stateFolder()
  open(stateOf(home))
  const found = await refusals(home)
  // Whoever writes asks for more.
  expect(found.map((line) => line.replace('entered', 'written'))).toEqual(refused(why))
  expect((await heimdall(home, ['doctor'])).stdout).toMatch(
    /fail {2}state folder .*(can be entered by others|belongs to user)/,
  )
})

test('a folder of ours that others can only read goes on, and doctor names it and closes it', async () => {
  const home = stateFolder()
  chmodSync(stateOf(home), 0o755)
  expect((await heimdall(home, ['runs', 'list'])).code).toBe(0)
  expect((await heimdall(home, ['doctor'])).stdout).toMatch(/fail {2}state folder .*can be entered by others/)
  await heimdall(home, ['doctor', '--fix'])
  expect(statSync(stateOf(home)).mode & 0o777).toBe(0o700)
})

test.each([
  ['runs', [['runs', 'list'], SHIM]],
  ['secrets', [['secrets', 'list']]],
])('of the folders below, %s is looked at as well', async (name, doors) => {
  const home = stateFolder()
  chmodSync(join(stateOf(home), name), 0o777)
  const found = await refusals(home, doors)
  expect(found.map((line) => line.replace('entered', 'written'))).toEqual(refused('can be written by others', doors))
})

test('a run that somebody else has prepared is not taken part in', async () => {
  const home = stateFolder()
  const dir = join(runsDir(home), 'w')
  mkdirSync(dir)
  chmodSync(dir, 0o777)
  writeFileSync(join(dir, 'events.jsonl'), '')
  const { code, stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect({ code, says: stderr.includes('can be written by others') }).toEqual({ code: 4, says: true })
  chmodSync(dir, 0o700)
  chmodSync(join(dir, 'events.jsonl'), 0o666)
  expect((await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })).code).toBe(4)
  expect(readFileSync(join(dir, 'events.jsonl'), 'utf8')).toBe('')
})

test('a record with a second name is not written to', async () => {
  const home = stateFolder()
  const precious = join(home, 'precious')
  writeFileSync(precious, 'precious\n')
  mkdirSync(join(runsDir(home), 'w'), { mode: 0o700 })
  linkSync(precious, join(runsDir(home), 'w', 'events.jsonl'))
  const { stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect(stderr).toContain('one of 2 names of the same file')
  expect(readFileSync(precious, 'utf8')).toBe('precious\n')
})

test('a link in place of the folder of members is not followed', async () => {
  const home = stateFolder()
  await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  const members = join(runsDir(home), 'w', 'members')
  expect(existsSync(members)).toBe(true)
  renameSync(members, join(home, 'elsewhere'))
  symlinkSync(join(home, 'elsewhere'), members)
  const { code, stderr } = await heimdall(home, SHIM, { SUB_RUN_ID: 'w' })
  expect({ code, says: stderr.includes('is a symbolic link') }).toEqual({ code: 4, says: true })
})
