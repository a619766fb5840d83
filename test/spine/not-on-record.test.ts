// What somebody types with a secret in it reaches the command, and no file; whatever shows the session shows it without.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/wait.ts'
import { spine } from './spine.ts'

const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
}

test('a token in the command line of a run is in no file of it, while it runs and afterwards', async () => {
  const project = spine()
  await project.detached('amber-otter', ['sh', '-c', 'read line; exit ${#2}', 'sh', '--token', TOKEN])
  const { sessions } = (await project.json(['hm', 'ls'])) as { sessions: { command: string[] }[] }
  expect(sessions[0]?.command.join(' ')).toMatch(/--token \[REDACTED\]$/)
  expect(filesWith(project.home, TOKEN)).toEqual([])
  await project.run('hm', ['send', 'amber-otter', 'go', '--enter'])
  await until('the run to be closed', () => project.sheets().length === 0)
  // It was told the whole of it.
  const { exit_code: code } = await project.json(['hm', 'status', 'amber-otter'])
  expect(code).toBe(TOKEN.length)
  expect(filesWith(project.home, TOKEN)).toEqual([])
  expect(filesWith(project.root, TOKEN)).toEqual([])
})

test('words without a secret stand as they were typed, spaces and all', async () => {
  const project = spine()
  const words = ['sh', '-c', 'read line', 'two  words', '']
  await project.detached('amber-otter', words)
  const { sessions } = (await project.json(['hm', 'ls'])) as { sessions: { command: string[] }[] }
  expect(sessions[0]?.command).toEqual(words)
})

test('a token in the command line of a plain session is in no file and in no list, while it runs and afterwards', async () => {
  const project = spine()
  const command = ['sh', '-c', 'read line; exit ${#2}', 'sh', '--token', TOKEN]
  expect((await project.run('hm', ['run', '--id', 'plain', '--detach', '--', ...command])).code).toBe(0)
  for (const list of [['ls'], ['ls', '--json'], ['status', 'plain', '--json']])
    expect((await project.run('hm', list)).stdout).toContain('[REDACTED]')
  expect(filesWith(project.home, TOKEN)).toEqual([])
  await project.run('hm', ['send', 'plain', 'go', '--enter'])
  const ended = async (): Promise<string | undefined> =>
    /plain .*exit.*/.exec((await project.run('hm', ['ls', '--all'])).stdout)?.[0]
  await until('the session to end', async () => (await ended()) !== undefined)
  // It was told the whole of it.
  expect(await ended()).toMatch(new RegExp(`exit ${TOKEN.length} .*--token \\[REDACTED\\]$`))
  expect(filesWith(project.home, TOKEN)).toEqual([])
})

test('a token in what a task is called, or in how it ended, is in no file and in nothing that is shown', async () => {
  const project = spine()
  const flags = [
    'run',
    '--agent',
    'amber-otter',
    '--task',
    `deploy with ${TOKEN}`,
    '--detach',
    '--',
    'sh',
    '-c',
    'read line',
  ]
  expect((await project.run('heimdall', flags)).code).toBe(0)
  const start = ['task', 'start', 'T-2', '--title', `log in with ${TOKEN}`, '--agent', 'amber-otter']
  for (const args of [start, ['task', 'list', '--json'], ['status', '--json'], ['events', 'tail', '--json']]) {
    const { stdout, stderr } = await project.run('heimdall', args)
    expect(stdout + stderr, args.join(' ')).not.toContain(TOKEN)
  }
  const titles = JSON.stringify(await project.json(['task', 'list']))
  expect(titles).toContain('deploy with [REDACTED]')
  for (const folder of [project.home, project.root]) expect(filesWith(folder, TOKEN)).toEqual([])
})

test('a token in what a task is asked to do is in no list and in no event of its dispatch; its worker reads it in the brief', async () => {
  const project = spine()
  const { code } = await project.run('heimdall', ['task', 'add', `log in with ${TOKEN}`, '--id', 'T-1'])
  expect(code).toBe(0)
  for (const args of [
    ['task', 'list'],
    ['task', 'list', '--json'],
    ['task', 'list', '--json'],
    ['events', 'tail', '--json'],
  ]) {
    const { stdout, stderr } = await project.run('heimdall', args)
    expect(stdout + stderr, args.join(' ')).not.toContain(TOKEN)
  }
  expect(JSON.stringify(await project.json(['task', 'list']))).toContain('log in with [REDACTED]')
  expect(filesWith(project.path('.planning'), TOKEN)).toEqual([])
})
