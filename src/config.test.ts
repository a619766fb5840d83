import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig, parseConfig } from './config.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'heimdall-config-'))
})

const write = (path: string, text: string): string => {
  mkdirSync(join(dir, path, '..'), { recursive: true })
  writeFileSync(join(dir, path), text)
  return join(dir, path)
}

describe('precedence', () => {
  test('flag, environment, project file, user file, default', async () => {
    const local = write('project/heimdall.toml', 'run_quiet_seconds = 1\nagent_stale_minutes = 2')
    const user = write('.config/heimdall/heimdall.toml', 'run_quiet_seconds = 9\nlog_level = "debug"')
    const config = await loadConfig({
      cwd: join(dir, 'project'),
      env: { HOME: dir, BB_AGENT_STALE_MINUTES: '7' },
      flags: { detach_key: 0, log_file: undefined },
    })
    expect(config.run_quiet_seconds).toEqual({ value: 1, origin: local })
    expect(config.log_level).toEqual({ value: 'debug', origin: user })
    expect(config.agent_stale_minutes).toEqual({ value: 7, origin: 'env BB_AGENT_STALE_MINUTES' })
    expect(config.detach_key).toEqual({ value: 0, origin: 'flag' })
    expect(config.kill_process_group).toEqual({ value: true, origin: 'default' })
  })

  test('--config reads that file alone and insists on it', async () => {
    write('project/heimdall.toml', 'scrollback_bytes = 1')
    const other = write('other.toml', 'log_level = "warn"')
    const config = await loadConfig({ cwd: join(dir, 'project'), env: { HOME: dir }, file: other })
    expect(config.scrollback_bytes.origin).toBe('default')
    expect(config.log_level.value).toBe('warn')
    await expect(loadConfig({ cwd: dir, env: {}, file: join(dir, 'none.toml') })).rejects.toMatchObject({
      code: 'CONFIG_UNREADABLE',
    })
  })
})

describe('bad input is refused by name', () => {
  test.each([
    ['scrolback_bytes = 1', /unknown key "scrolback_bytes"/],
    ['scrollback_bytes = "many"', /scrollback_bytes must be integer, got/],
    ['scrollback_bytes = -1', /must be integer/],
    ['scrollback_bytes = 9007199254740993', /./],
    ['kill_process_group = "yes"', /must be boolean/],
    ['classifier = "Claude"', /classifier must be one of claude, simple, none/],
    ['[classifier.claude]\nidle_ms = 1', /unknown key "classifier\.claude\.idle_ms"/],
    ['[classifier.claude]\n[classifier.simple]', /exactly one/],
    ['[[env]]\nname = "A"', /env must be/],
    ['a = [', /:1:/],
    ['log_level = "a"\nlog_level = "b"', /:2:/],
    ['\u0000', /./],
  ])('%j', async (text, message) => {
    await expect(parseConfig(text, 'heimdall.toml')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message) as string,
    })
  })

  test('a suggestion for a mistyped key', async () => {
    await expect(parseConfig('scrolback_bytes = 1', 'x')).rejects.toMatchObject({
      hint: 'did you mean scrollback_bytes?',
    })
  })

  test('a file of a megabyte, a folder, a bad variable', async () => {
    const big = write('big.toml', '#'.repeat(1 << 20))
    await expect(loadConfig({ cwd: dir, env: {}, file: big })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(loadConfig({ cwd: dir, env: {}, file: dir })).rejects.toMatchObject({ code: 'CONFIG_UNREADABLE' })
    await expect(loadConfig({ cwd: dir, env: { BB_AGENT_STALE_MINUTES: 'soon' } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
  })
})

test('classifier and environment tables of supervisor configuration files', async () => {
  const values = await parseConfig(
    '[classifier.claude]\nidle_threshold_ms = 500\n[[env]]\nname = "A"\nvalue = "1"',
    'x',
  )
  expect(values.classifier).toEqual({ name: 'claude', idleThresholdMs: 500, debounceMs: 200 })
  expect(values.env).toEqual([{ name: 'A', value: '1' }])
  expect((await parseConfig('classifier = "none"', 'x')).classifier).toMatchObject({ name: 'none' })
})
