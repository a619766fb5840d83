// Global flags mean the same before a command, between its words and after it, for every launcher.
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/table.ts'
import { GLOBAL_FLAGS } from '../../src/cli/parse.ts'
import { temporaryProject } from '../support/project.ts'

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
