// The command frame from outside: what a person, a pipe and a script see.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { launcher, runProgram } from '../support/programs.ts'

const home = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))

async function heimdall(
  words: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; bin?: string } = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const { code, stdout, stderr } = await runLauncher(options.bin ?? 'heimdall', words, {
    cwd: options.cwd ?? home,
    env: { HOME: home, ...options.env },
    stdin: '',
  })
  return { code, out: stdout, err: stderr }
}

describe('answers', () => {
  test('--version is the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(await runProgram([...launcher('heimdall'), '--version'])).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  test('--help groups the everyday commands; a noun alone is a usage error that shows its commands', async () => {
    const { out } = await heimdall(['--help'])
    expect(out.match(/^\w+$/gm)).toEqual(['Agents', 'Attention', 'Work', 'Rules', 'History', 'Setup'])
    expect(out.split('\n').length).toBeLessThan(60)
    expect(out).toMatch(/^ {2}config +Show/m)
    expect((await heimdall(['help'])).out).toBe(out)
    expect((await heimdall(['help', '--all'])).out).toMatch(/^ {2}brief +Build/m)
    expect(await heimdall(['config'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^ {2}get +/m) as string,
    })
    expect((await heimdall(['config', '--help'])).code).toBe(0)
  })

  test('help begins with what the command does and examples', async () => {
    const { out } = await heimdall(['config', 'list', '--help'])
    expect(out.split('\n').slice(0, 3)).toEqual(['List all settings and their values', '', 'Examples:'])
    expect((await heimdall(['help', 'config', 'list'])).out).toBe(out)
    for (const topic of ['exit-codes', 'environment', 'errors']) expect((await heimdall(['help', topic])).code).toBe(0)
  })

  test('--json is one envelope, for answers and for errors', async () => {
    expect(JSON.parse((await heimdall(['version', '--json'])).out)).toMatchObject({
      ok: true,
      command: 'heimdall version',
      error: null,
    })
    const failed = await heimdall(['config', 'get', 'nothing', '--json'])
    expect(failed).toMatchObject({ code: 2, err: '' })
    expect(JSON.parse(failed.out)).toMatchObject({
      ok: false,
      command: 'heimdall config get',
      data: null,
      error: { code: 'USAGE' },
    })
  })

  test('an error is one line on stderr and a hint, nothing on stdout', async () => {
    expect(await heimdall(['verson'])).toEqual({
      code: 2,
      out: '',
      err: 'error: unknown command: heimdall verson\nhint: did you mean heimdall version?\n',
    })
    expect(await heimdall(['version', '--jsno'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('did you mean --json?') as string,
    })
  })

  test('colour only on request when stdout is a pipe, and never with NO_COLOR', async () => {
    const escape = '\u001b['
    expect((await heimdall(['doctor'])).out).not.toContain(escape)
    expect((await heimdall(['doctor', '--color'])).out).toContain(escape)
    expect((await heimdall(['doctor'], { env: { CLICOLOR_FORCE: '1' } })).out).toContain(escape)
    expect((await heimdall(['doctor'], { env: { CLICOLOR_FORCE: '1', NO_COLOR: '1' } })).out).not.toContain(escape)
  })
})

describe('config', () => {
  test('says where each value comes from', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))
    writeFileSync(join(dir, 'heimdall.toml'), 'detach_key = 29\n')
    expect((await heimdall(['config', 'list', '--show-origin'], { cwd: dir })).out).toContain(
      `detach_key\t29\t${join(dir, 'heimdall.toml')}\n`,
    )
    expect((await heimdall(['config', 'get', 'detach_key'], { cwd: dir })).out).toBe('29\n')
  })

  test('a corrupt file stops every reader with its place and line', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'heimdall-cli-'))
    writeFileSync(join(dir, 'heimdall.toml'), 'log_level = \n')
    expect(await heimdall(['config', 'list'], { cwd: dir })).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('heimdall.toml:1:') as string,
    })
    expect((await heimdall(['doctor'], { cwd: dir })).out).toMatch(/fail +configuration/)
  })
})

describe('doctor', () => {
  test('every check of this machine is fine or says what to do', async () => {
    const { checks } = (
      JSON.parse((await heimdall(['doctor', '--json'])).out) as {
        data: { checks: { check: string; state: string; fix: string | null }[] }
      }
    ).data
    expect(checks.map(({ check }) => check)).toContain('sqlite')
    for (const { state, fix } of checks) expect(state === 'ok' || fix !== null).toBe(true)
    expect(checks.filter(({ state }) => state === 'fail')).toEqual([])
  })
})

describe('completion', () => {
  test('bash offers commands, then sub-commands, then flags', async () => {
    const { out: script } = await heimdall(['completion', 'bash'])
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

  test.each(['zsh', 'fish'])('%s has a script', async (shell) => {
    expect((await heimdall(['completion', shell])).out).toContain('heimdall')
  })

  test('another shell is refused with the list of known ones', async () => {
    expect(await heimdall(['completion', 'ksh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('bash, zsh, fish') as string,
    })
  })
})

test('the manual page has every command and its exit codes', async () => {
  const { out } = await heimdall(['man'])
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
