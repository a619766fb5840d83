// Mistakes at the command line: global flags, mistyped values, hints, and uncaught errors.
import { expect, test } from 'vitest'
import { GLOBAL_FLAGS } from '../../src/cli/parse.ts'
import { allCommands } from '../../src/cli/nouns.ts'
import { runLauncher } from '../support/in-process.ts'
import { startProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'

const COMMANDS = await allCommands()

// Global flags work before, between and after the words of a command, for every launcher.
test('--json before, between and after the words of a command is one envelope', async () => {
  const project = temporaryProject()
  const lines: [string, string[][]][] = [
    [
      'hm',
      [
        ['--json', 'ls'],
        ['ls', '--json'],
      ],
    ],
    [
      'heimdall',
      [
        ['--json', 'claim', 'list'],
        ['claim', '--json', 'list'],
        ['claim', 'list', '--json'],
      ],
    ],
    [
      'bb',
      [
        ['--json', 'agent', 'list'],
        ['agent', '--json', 'list'],
        ['agent', 'list', '--json'],
      ],
    ],
    [
      'heimdall-claim',
      [
        ['--json', 'list'],
        ['list', '--json'],
      ],
    ],
    [
      'heimdall-blackboard',
      [
        ['--json', 'list'],
        ['list', '--json'],
      ],
    ],
  ]
  for (const [bin, ways] of lines) {
    const answers = await Promise.all(ways.map((words) => project.run(bin, words)))
    expect([bin, ...answers.map(({ code, stderr }) => [code, stderr])]).toEqual([bin, ...ways.map(() => [0, ''])])
    expect(() => JSON.parse(answers[0]?.stdout ?? '') as unknown).not.toThrow()
    expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(1)
  }
})

test('--config before the command names the file that counts', async () => {
  const project = temporaryProject()
  const file = project.write('mine.toml', 'scrollback_bytes = 77\n')
  for (const words of [['--config', file], [`--config=${file}`], ['--no-color', '--config', file]]) {
    const { stdout } = await project.run('heimdall', [...words, 'config', 'get', 'scrollback_bytes'])
    expect(stdout).toBe('77\n')
  }
  const missing = await project.run('hm', ['--config', 'none.toml', 'ls'])
  expect([missing.code, missing.stderr]).toEqual([8, expect.stringContaining('cannot read none.toml')])
})

test('help before the command is help on it, and with --json it is an envelope', async () => {
  const project = temporaryProject()
  expect((await project.run('hm', ['--help', 'run'])).stdout).toBe((await project.run('hm', ['run', '--help'])).stdout)
  const overview = JSON.parse((await project.run('hm', ['--json', '--help'])).stdout) as { data: { text: string } }
  expect(`${overview.data.text}\n`).toBe((await project.run('hm', ['--help'])).stdout)
})

test('what is no global flag is refused before a command, by its own name', async () => {
  const project = temporaryProject()
  const unknown = await project.run('hm', ['--verbose', 'ls'])
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    'error: unknown flag "--verbose" before a command\nhint: flags of a command follow its name; before it go --json, --help, --color, --config\n',
  ])
  const alone = await project.run('hm', ['--json'])
  expect([alone.code, JSON.parse(alone.stdout)]).toMatchObject([2, { ok: false, error: { code: 'USAGE' } }])
  const behind = await project.run('hm', ['run', '--inline', '--', 'echo', '--json'])
  expect(behind.stdout).toContain('--json')
})

test('no command gives a global flag a meaning of its own', () => {
  const own = COMMANDS.flatMap(({ spec }) => Object.keys(spec.flags ?? {}).map((flag) => `${spec.names[0]} --${flag}`))
  expect(own.filter((line) => Object.keys(GLOBAL_FLAGS).some((flag) => line.endsWith(` --${flag}`)))).toEqual([])
})

// Hints for a missing --, a number without a unit, and groups.
const run = async (bin: string, ...words: string[]) =>
  await runLauncher(bin, [...words], { env: { HOME: temporaryFolder() } })

test('a command line without -- is told where it goes', async () => {
  const { code, stderr } = await run('hm', 'run', 'bash')
  expect([code, stderr]).toEqual([2, expect.stringContaining('hint: put the command after --: hm run -- bash')])
})

test('a duration without a unit is told that there are days', async () => {
  const { code, stderr } = await run('heimdall', 'runs', 'prune', '--older-than', '7')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/such as .*\b7d\b/)])
})

test.each(['sub', 'heimdall', 'hm', 'bb'])(
  'no group in the overview of %s is described by its own name',
  async (bin) => {
    const { stdout } = await run(bin, '--help')
    expect(stdout).not.toMatch(/^ +(\S+(?: \S+)*?) +\1:/m)
  },
)

test('help of what there is not offers what was meant, and nothing that only has as many letters', async () => {
  expect((await run('heimdall', 'help', 'dashboard')).stderr).toContain('hint: heimdall open')
  expect((await run('heimdall', 'help', 'nope')).stderr).toContain('hint: topics: exit-codes')
})

test('the exit codes of contract names are told beside ours', async () => {
  const { stdout } = await run('heimdall', 'help', 'exit-codes')
  expect(stdout).toMatch(/\(hm, [^\n]*\n[^]*SESSION_NOT_FOUND +1 in place of 3: /)
  expect(stdout).toMatch(/^ +2 in place of 3 to 8 [^]*heimdall-claim/m)
  expect(stdout).toMatch(/^ +3 for STORE_CORRUPT +heimdall-blackboard/m)
  expect(stdout).toMatch(/^ +1 in place of 2 to 130 +bb, bb-init$/m)
})

test.each(['events tail', 'watch'])('help of %s says one thing of --json: that it prints lines', async (command) => {
  const { stdout } = await run('heimdall', ...command.split(' '), '--help')
  expect(stdout).toMatch(/^ +--json +print one [^\n]* (a|per) line on stdout/m)
  expect(stdout).not.toContain('{ok, command, data, error}')
})

// A mistyped port, folder or policy is one line and no stack.
const NO_FOLDER = /^error: no folder \/no\/such to write to\nhint: /

test.each([
  ['heimdall up --port 65536', 2, /^error: --port takes a whole number of at most 65535, got "65536"\n/],
  ['hm export a /no/such/x.cast', 2, NO_FOLDER],
  ['hm record a /no/such/x.cast', 2, NO_FOLDER],
  ['hm run --detach --record /no/such/x.cast -- true', 2, NO_FOLDER],
  ['heimdall fleet export /no/such/x', 2, NO_FOLDER],
  [
    'heimdall run --policy careful.yaml -- true',
    8,
    /careful\.yaml cannot be read \(ENOENT\)\nhint: heimdall policy init --from careful /,
  ],
  ['heimdall claim relase x', 2, /^error: .*\nhint: did you mean heimdall claim release\? /],
] as const)('%s: one line of what was seen, and one of what to do', async (line, code, words) => {
  const project = temporaryProject()
  const [name = '', ...args] = line.split(' ')
  const ended = await runLauncher(name, [...args], { cwd: project.root, env: project.env })
  expect(ended).toMatchObject({ code, stdout: '' })
  expect(ended.stderr).toMatch(words)
  expect(ended.stderr).not.toMatch(/^ {4}at /m)
})

test('a policy in place of its cases is told from broken cases, and the cases are named', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['policy', 'init', '--from', 'careful', '--out', 'careful.yaml'])
  const tried = () => project.run('heimdall', ['policy', 'test', 'careful.yaml'])
  const words = 'error: careful.yaml is a policy, not a file of cases\nhint: '
  expect((await tried()).stderr).toBe(`${words}heimdall policy test careful.cases.yaml\n`)
  expect((await project.run('heimdall', ['policy', 'test', 'careful.cases.yaml'])).code).toBe(0)
  project.git('clean', '--quiet', '--force', 'careful.cases.yaml')
  expect((await tried()).stderr).toContain(
    `${words}write cases to careful.cases.yaml, with a line policy: careful.yaml`,
  )
})

// An uncaught error prints no built source.
test('an uncaught error is said by its code, message and stack, without the source', async () => {
  const source = "require('./dist/cli.cjs').start('heimdall'); setImmediate(() => { throw new Error('gone wrong') })"
  const { code, stderr } = await startProgram([process.execPath, '-e', source, 'heimdall', '--version']).ended
  expect([code, stderr.split('\n')[0]]).toEqual([1, 'error: INTERNAL: Error: gone wrong'])
  expect(stderr).not.toContain('setImmediate(() =>')
})
