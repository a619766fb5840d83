// Seed 004 §4: the server gets its secrets and nobody else does; without all of them it is not started.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isErrno } from '../../src/errors.ts'
import { startWithSecrets, variable } from '../support/bound-secrets.ts'
import { temporaryFolder } from '../support/project.ts'
import { bundle, type Json, ofType, startShim } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const textOf = (answer: Json): string => answer['result'].content[0].text as string
const bound = (...bindings: object[]): Record<string, string> => ({ SUB_SECRET_BINDINGS: JSON.stringify(bindings) })

test('SEC-001: the server gets what is bound to it; the agent’s side and the events never show it', async () => {
  const values = ['plain-and-long-enough', 'with "quotes" and \\', 'two\nlines\n', 'schöne ☃ 😀']
  const shim = startWithSecrets(values.map((value) => ({ value })))
  for (const [n, value] of values.entries())
    expect(textOf(await shim.call('hash_env', { name: variable(n) }))).toBe(sha256(value))
  const { stderr } = await shim.end()
  for (const value of values) {
    expect(shim.program.stdout() + stderr).not.toContain(value)
    expect(shim.program.stdout() + stderr).not.toContain(JSON.stringify(value).slice(1, -1))
  }
})

test('SEC-002: secret_injection says names and source, nested so that the envelope keeps its own', async () => {
  const shim = startWithSecrets([{ value: 'nobody-sees-this-one' }])
  await shim.call('echo')
  const { events } = await shim.end()
  const [event, ...others] = ofType(events, 'secret_injection')
  expect(others).toEqual([])
  expect(event?.['secret']).toEqual({ inject_as: 'SECRET_0', secret_ref: 'ref_0', source: 'file', success: true })
  expect(event?.['source']).toEqual(ofType(events, 'run_start')[0]?.['source'])
})

test('from the environment by each of the three names, which then hold nothing for any server', async () => {
  const env = {
    ...bound(
      { inject_as: 'A', secret_ref: 'small_one' },
      { inject_as: 'B', secret_ref: 'big-one', source: 'env' },
      { inject_as: 'C', secret_ref: 'own_one' },
    ),
    small_one: 'value of small',
    BIG_ONE: 'value of big',
    SUB_SECRET_OWN_ONE: 'value of own',
    OTHER: 'stays',
  }
  const shim = startShim({ env })
  const given = JSON.parse(textOf(await shim.call('env'))) as Record<string, string>
  expect(given).toMatchObject({ A: 'value of small', B: 'value of big', C: 'value of own', OTHER: 'stays' })
  for (const name of ['small_one', 'BIG_ONE', 'SUB_SECRET_OWN_ONE', 'SUB_SECRET_BINDINGS'])
    expect(Object.hasOwn(given, name)).toBe(false)
  await shim.end()
})

test('what a file binds to one server, another does not get by the environment either', async () => {
  const path = join(temporaryFolder(), 'bindings.json')
  writeFileSync(path, JSON.stringify({ git: [{ inject_as: 'TOKEN', secret_ref: 'github_token' }] }))
  const env = { GITHUB_TOKEN: 'of the git server', SUB_SECRET_BINDINGS_FILE: path }
  const shim = startShim({ env, name: 'fs' })
  const given = JSON.parse(textOf(await shim.call('env'))) as Record<string, string>
  expect(Object.values(given)).not.toContain('of the git server')
  const { stderr } = await shim.end()
  expect(stderr).toContain('name other servers than fs')
})

test('a keychain is asked by the system’s own program', async () => {
  const folder = temporaryFolder()
  for (const name of ['secret-tool', 'security'])
    writeFileSync(join(folder, name), '#!/bin/sh\nprintf %s value-of-the-keychain\n', { mode: 0o755 })
  const shim = startShim({
    env: {
      ...bound({ inject_as: 'A', secret_ref: 'a', source: 'keychain' }),
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    },
  })
  expect(textOf(await shim.call('hash_env', { name: 'A' }))).toBe(sha256('value-of-the-keychain'))
  await shim.end()
})

test.each([
  ['missing', [{ inject_as: 'A', secret_ref: 'nowhere' }], {}, 'none of the variables nowhere, NOWHERE'],
  ['empty', [{ inject_as: 'A', secret_ref: 'a' }], { A: '' }, 'none of the variables'],
  ['of three letters', [{ inject_as: 'A', secret_ref: 'a' }], { A: 'abc' }, 'too short'],
  ['not in the store', [{ inject_as: 'A', secret_ref: 'a', source: 'file' }], {}, 'heimdall mcp secrets add a'],
  ['in a keychain without its program', [{ inject_as: 'A', secret_ref: 'a', source: 'keychain' }], {}, 'not on PATH'],
])('one that is %s: the server is not started, and why is said', async (_, bindings, env, said) => {
  const started = join(temporaryFolder(), 'started')
  const shim = startShim({
    // Nothing else is on PATH: no keychain either.
    env: {
      ...bound(...bindings, { inject_as: 'B', secret_ref: 'there' }),
      THERE: 'value-of-there',
      PATH: temporaryFolder(),
      ...env,
    },
    server: ['/bin/sh', '-c', `: > '${started}'; cat`],
  })
  const { code, stderr } = await shim.program.ended
  expect(code).toBe(127)
  expect(existsSync(started)).toBe(false)
  expect(stderr).toContain(said)
  const events = shim.events()
  expect(ofType(events, 'secret_injection').map(({ secret }) => (secret as Json)['success'] as boolean)).toEqual([
    false,
    true,
  ])
  expect(ofType(events, 'run_end')[0]?.['run'].status).toBe('FAILED')
  expect(stderr).not.toContain('value-of-there')
})

test('bindings that are wrong: each has its line, and the server is not started', async () => {
  const shim = startShim({
    env: bound({ inject_as: 'LD_PRELOAD', secret_ref: 'a' }, { inject_as: 'A', secret_ref: 'a', source: 'vault' }),
    bin: 'heimdall',
  })
  const { code, stderr } = await shim.program.ended
  expect(code).toBe(127)
  expect(stderr).toMatch(/^heimdall shim: SUB_SECRET_BINDINGS: \[0\]\.inject_as "LD_PRELOAD" says what programs load/m)
  expect(stderr).toMatch(/^heimdall shim: SUB_SECRET_BINDINGS: \[1\]\.source is "vault"/m)
})

test('three letters are taken where nobody is to look for them; seven with a warning', async () => {
  const shim = startWithSecrets([{ value: 'abc', redact: false }, { value: 'seven77' }])
  expect(textOf(await shim.call('hash_env', { name: variable(0) }))).toBe(sha256('abc'))
  const { stderr } = await shim.end()
  expect(stderr).toContain('ref_1 is short')
  expect(stderr).not.toContain('ref_0 is short')
})

test('redact: false shows the value in previews, and in nothing that we say ourselves', async () => {
  const value = 'not-so-secret-user'
  const shim = startWithSecrets([{ value, redact: false }])
  await shim.call('echo', { text: value })
  await shim.call('fail', { message: `no such user: ${value}` })
  await shim.call('tell', { text: `hello ${value}`, cut: 9 })
  const { events } = await shim.end()
  const [echoed, failed] = ofType(events, 'tool_call_end')
  expect(echoed?.['preview'].result_preview).toContain(value)
  expect(failed?.['error'].message).toBe('no such user: [REDACTED]')
  expect(ofType(events, 'shim_log').map(({ log }) => (log as Json)['text'] as string)).toContain('hello [REDACTED]')
  expect(ofType(events, 'secret_exposed')).toEqual([])
})

test('a server with secrets is started when the policy is there, not before', async () => {
  const folder = temporaryFolder()
  const policy = join(folder, 'policy.json')
  const started = join(folder, 'started')
  execFileSync('mkfifo', [policy])
  const shim = startWithSecrets([{ value: 'long-enough-a-secret' }], {
    flags: [`--policy=${policy}`],
    ownProcess: true,
    server: ['/bin/sh', '-c', `: > '${started}'; cat > /dev/null`],
  })
  // Opens once somebody reads it: the shim is at its policy now.
  const fd = await until('the shim to read its policy', () => {
    try {
      return openSync(policy, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch (error) {
      if (isErrno(error, 'ENXIO')) return undefined
      throw error
    }
  })
  expect(existsSync(started)).toBe(false)
  writeSync(fd, JSON.stringify(bundle([])))
  closeSync(fd)
  await until('the server to start', () => existsSync(started))
  // Not asked to end: it waits for another policy from the pipe.
  shim.program.kill('SIGKILL')
})
