// The command frame from outside: what a person, a pipe and a script see.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const home = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))

function heimdall(
  words: string[],
  options: { cwd?: string; env?: Record<string, string>; input?: string; bin?: string } = {},
): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(resolve('bin', options.bin ?? 'heimdall'), words, {
    cwd: options.cwd ?? home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...options.env },
    input: options.input ?? '',
    encoding: 'utf8',
  })
  return { code: status, out: stdout, err: stderr }
}

describe('answers', () => {
  test('--version is the version of the package', () => {
    expect(heimdall(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
      err: '',
    })
  })

  test('no command shows the overview; --help too; a group alone is a usage error that shows the group', () => {
    expect(heimdall([])).toMatchObject({ code: 0, out: expect.stringContaining('heimdall config') as string })
    expect(heimdall(['--help']).out).toBe(heimdall([]).out)
    expect(heimdall(['config'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('heimdall config get') as string,
    })
    expect(heimdall(['config', '--help']).code).toBe(0)
  })

  test('help begins with what the command does and examples', () => {
    const { out } = heimdall(['config', 'list', '--help'])
    expect(out.split('\n').slice(0, 3)).toEqual(['Every setting with its value', '', 'Examples:'])
    expect(heimdall(['help', 'config', 'list']).out).toBe(out)
    for (const topic of ['exit-codes', 'environment', 'errors']) expect(heimdall(['help', topic]).code).toBe(0)
  })

  test('--json is one envelope, for answers and for errors', () => {
    expect(JSON.parse(heimdall(['version', '--json']).out)).toMatchObject({
      ok: true,
      command: 'heimdall version',
      error: null,
    })
    const failed = heimdall(['config', 'get', 'nothing', '--json'])
    expect(failed).toMatchObject({ code: 2, err: '' })
    expect(JSON.parse(failed.out)).toMatchObject({
      ok: false,
      command: 'heimdall config get',
      data: null,
      error: { code: 'USAGE' },
    })
  })

  test('an error is one line on stderr and a hint, nothing on stdout', () => {
    expect(heimdall(['verson'])).toEqual({
      code: 2,
      out: '',
      err: 'error: unknown command: heimdall verson\nhint: did you mean heimdall version?\n',
    })
    expect(heimdall(['version', '--jsno'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('did you mean --json?') as string,
    })
  })

  test('colour only on request when stdout is a pipe, and never with NO_COLOR', () => {
    const escape = '\u001b['
    expect(heimdall(['doctor']).out).not.toContain(escape)
    expect(heimdall(['doctor', '--color']).out).toContain(escape)
    expect(heimdall(['doctor'], { env: { CLICOLOR_FORCE: '1' } }).out).toContain(escape)
    expect(heimdall(['doctor'], { env: { CLICOLOR_FORCE: '1', NO_COLOR: '1' } }).out).not.toContain(escape)
  })
})

describe('config', () => {
  test('says where each value comes from', () => {
    const dir = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))
    writeFileSync(join(dir, 'heimdall.toml'), 'detach_key = 29\n')
    expect(heimdall(['config', 'list', '--show-origin'], { cwd: dir }).out).toContain(
      `detach_key\t29\t${join(dir, 'heimdall.toml')}\n`,
    )
    expect(heimdall(['config', 'get', 'detach_key'], { cwd: dir }).out).toBe('29\n')
  })

  test('a corrupt file stops every reader with its place and line', () => {
    const dir = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))
    writeFileSync(join(dir, 'heimdall.toml'), 'log_level = \n')
    expect(heimdall(['config', 'list'], { cwd: dir })).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('heimdall.toml:1:') as string,
    })
    expect(heimdall(['doctor'], { cwd: dir }).out).toMatch(/fail +configuration/)
  })
})

describe('doctor', () => {
  test('every check of this machine is fine or says what to do', () => {
    const { checks } = (
      JSON.parse(heimdall(['doctor', '--json']).out) as {
        data: { checks: { check: string; state: string; fix: string | null }[] }
      }
    ).data
    expect(checks.map(({ check }) => check)).toContain('sqlite')
    for (const { state, fix } of checks) expect(state === 'ok' || fix !== null).toBe(true)
    expect(checks.filter(({ state }) => state === 'fail')).toEqual([])
  })
})

describe('completion', () => {
  test('bash offers commands, then sub-commands, then flags', () => {
    const { out: script } = heimdall(['completion', 'bash'])
    const complete = (...words: string[]): string[] =>
      spawnSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heimdall; printf '%s\\n' "\${COMPREPLY[@]}"`,
          'bash',
          ...words,
        ],
        { encoding: 'utf8' },
      ).stdout.split('\n')
    expect(complete('heimdall', 'con')).toContain('config')
    expect(complete('heimdall', 'config', '')).toEqual(expect.arrayContaining(['list', 'get']))
    expect(complete('heimdall', 'config', 'list', '--sh')).toContain('--show-origin')
  })

  test.each(['zsh', 'fish'])('%s has a script', (shell) => {
    expect(heimdall(['completion', shell]).out).toContain('heimdall')
  })

  test('another shell is refused with the list of known ones', () => {
    expect(heimdall(['completion', 'ksh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('bash, zsh, fish') as string,
    })
  })
})

test('the manual page has every command and its exit codes', () => {
  const { out } = heimdall(['man'])
  expect(out).toMatch(/^\.TH HEIMDALL 1/)
  expect(out).toContain('heimdall config list')
  expect(out).toContain('.SH EXIT STATUS')
})

test('a reader that goes away early is no error', () => {
  const { stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail; '${resolve('bin/heimdall')}' man | head -1`], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
  })
  expect(stdout).toMatch(/^\.TH/)
  expect(stderr).toBe('')
})
