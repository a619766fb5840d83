// heimdall status, next and snooze from outside: who waits, who works, and what a person is taken to; each wait told once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { openPane } from '../support/tmux.ts'
import { until } from '../support/wait.ts'
import { type Spine, spine } from './spine.ts'

const ASKS = [
  'sh',
  '-c',
  'printf "\\033]7501;state=blocked:kind=permission:msg=bWlncmF0ZQ==\\007"; read x; echo "got $x"; printf "\\033]7501;state=working\\007"; sleep 600',
]
const WORKS = ['sh', '-c', 'while :; do echo work; sleep 0.2; done']

const status = async (at: Spine): Promise<Json> => await at.json(['status'])
const waiting = async (at: Spine): Promise<number> => Number((await at.run('heimdall', ['status', '-q'])).stdout)

test('who waits is shown with its evidence, can be snoozed, and clears by itself when it is answered', async () => {
  const at = spine()
  await at.detached('amber-otter', ASKS, ['--task', 'T-9'])
  await at.detached('teal-badger', WORKS)
  await until('the wait to be booked', async () => (await waiting(at)) === 1)
  const fleet = await until('the pulse of the other', async () => {
    const seen = await status(at)
    const hasPulse = ({ evidence }: Json): boolean => (evidence as Json | null)?.['source'] === 'output'
    return (seen['agents'] as Json[]).some(hasPulse) ? seen : undefined
  })
  expect(fleet['waits']).toMatchObject([
    {
      kind: 'permission',
      agent_id: 'amber-otter',
      asks: 'migrate',
      evidence: { source: 'osc', seen: 'OSC 7501: permission: migrate' },
      session_id: 'amber-otter',
      answers: [{ act: 'attach', command: 'hm attach amber-otter' }, { act: 'look' }],
    },
  ])
  expect(fleet['agents']).toMatchObject([
    { agent_id: 'amber-otter', state: 'needs you', task: { id: 'T-9' }, branch: 'main' },
    { agent_id: 'teal-badger', state: 'working', evidence: { source: 'output' } },
  ])
  expect((await at.run('heimdall', ['status'])).stdout).toMatch(
    /^needs-you\t\d+\tamber-otter\tpermission\tmigrate\nagent\t/,
  )
  // An agent, or a caller without a terminal, snoozes nothing that is asked of a human.
  const snooze = ['snooze', 'amber-otter', '--for', '1h']
  expect(await at.run('heimdall', snooze)).toMatchObject({ code: 4 })
  expect(await waiting(at)).toBe(1)
  expect(await ownTerminal([...launcher('heimdall'), ...snooze], { cwd: at.root, env: at.env }).ended).toBe(0)
  expect(await waiting(at)).toBe(0)
  await at.run('heimdall', ['snooze', 'amber-otter', '--back'])
  expect(await waiting(at)).toBe(1)
  await at.run('hm', ['send', 'amber-otter', 'yes\n'])
  await until('the wait to be over', async () => (await waiting(at)) === 0)
  const first = await until('the sign that it works again', async () => {
    const agents = (await status(at))['agents'] as Json[]
    return agents.find(({ evidence }) => (evidence as Json | null)?.['seen'] === 'OSC 7501: working')
  })
  expect(first).toMatchObject({ agent_id: 'amber-otter', state: 'working', waited: { count: 1 } })
  await at.run('hm', ['kill', '--wait', 'amber-otter'])
  await until('the run to be closed', async () =>
    ((await status(at))['agents'] as Json[]).some(
      ({ agent_id: id, state }) => id === 'amber-otter' && state === 'cancelled',
    ),
  )
})

test('another question is another wait, and what answered each is on record', async () => {
  const at = spine()
  const go = join(at.root, 'go')
  const asking = (words: string): string =>
    `printf "\\033]7501;state=blocked:kind=permission:msg=${Buffer.from(words).toString('base64')}\\007"`
  await at.detached('amber-otter', [
    'sh',
    '-c',
    `${asking('list files')}; until [ -e '${go}' ]; do sleep 0.05; done; ${asking('remove all')}; read x; sleep 600`,
  ])
  const waits = async (): Promise<Json[]> => (await status(at))['waits'] as Json[]
  const asks = async (words: string): Promise<Json> =>
    await until(words, async () => (await waits()).find((wait) => wait['asks'] === words))
  const first = await asks('list files')
  writeFileSync(go, '')
  const second = await asks('remove all')
  expect(await waits()).toHaveLength(1)
  // Whoever answers the first answers nothing: it is gone.
  expect(second['id']).not.toBe(first['id'])
  await at.run('hm', ['send', 'amber-otter', 'no\n'])
  const [run = ''] = at.runs()
  const ends = await until('both ends', () => {
    const ended = ofType(at.events(run), 'wait_end').map((event) => (event['wait'] as Json)['answer'])
    return ended.length === 2 ? ended : undefined
  })
  expect(ends).toEqual(['it asked something else', 'somebody typed'])
})

test('next takes a person to whoever waits, goes on when it is answered, and ends when nobody waits', async () => {
  const at = spine()
  await at.detached('amber-otter', ASKS)
  await until('the wait to be booked', async () => (await waiting(at)) === 1)
  const piped = await at.run('heimdall', ['next'])
  expect(piped.stdout).toBe('amber-otter\tpermission\tmigrate\thm attach amber-otter\n')
  const pane = await openPane([...launcher('heimdall'), 'next'], { cols: 100, rows: 20, env: at.env, cwd: at.root })
  await pane.see('[hm] amber-otter')
  await pane.type('yes\r')
  await pane.see('Nothing waits for you.')
})

test('a damaged store takes nothing away from what else is known', async () => {
  const at = spine()
  await at.detached('amber-otter', ASKS)
  await until('the wait to be booked', async () => (await waiting(at)) === 1)
  const store = at.path('.git/heimdall/coordination.db')
  // Whoever has it open, as its keeper does, goes on with the log of the old one: it is another file, without a log.
  for (const file of [store, `${store}-wal`, `${store}-shm`]) rmSync(file, { force: true })
  writeFileSync(store, 'no database at all, not any more')
  const fleet = await status(at)
  expect(fleet['waits']).toHaveLength(1)
  expect(fleet['missing']).toMatchObject([{ what: 'coordination' }])
})

test('two projects have nothing to do with each other, and a project without agents says so', async () => {
  const at = spine()
  await at.detached('amber-otter', ASKS)
  await until('the wait to be booked', async () => (await waiting(at)) === 1)
  const elsewhere = join(at.home, 'other "place"')
  mkdirSync(elsewhere)
  const seen = await at.run('heimdall', ['status', '--json'], { cwd: elsewhere })
  expect(JSON.parse(seen.stdout)).toMatchObject({
    data: { agents: [], waits: [], counts: { waiting: 0 }, missing: [] },
  })
  const pane = await openPane([...launcher('heimdall'), 'status'], {
    cols: 60,
    rows: 12,
    env: { ...at.env, LANG: 'C', LC_ALL: '', LC_CTYPE: '', NO_COLOR: '1' },
    cwd: at.root,
  })
  await pane.see('1 waits for you')
  const screen = (await pane.capture('-e')).join('\n')
  expect(screen).toMatch(/^[\x0a\x20-\x7e]*$/)
})

test('a person is told once for each wait, by command, webhook, ntfy and on the desktop, without what is asked', async () => {
  const at = spine()
  const posted: string[] = []
  const topics: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (request.url === '/topic') topics.push(`${String(request.headers['title'])}|${body}`)
      else posted.push(body)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const told = join(at.home, 'told')
  const { port } = server.address() as AddressInfo
  mkdirSync(join(at.home, '.config/heimdall'), { recursive: true })
  writeFileSync(
    join(at.home, '.config/heimdall/heimdall.toml'),
    `[notify]\nntfy = "http://127.0.0.1:${port}/topic"\nwebhook = "http://127.0.0.1:${port}/"\ncommand = 'echo "$HEIMDALL_WAIT_TITLE|$HEIMDALL_WAIT_TEXT|$HEIMDALL_WAIT_ASKS" >> ${told}'\n`,
  )
  // In the place of the desktop's own program, which says what it was called with.
  const bin = join(at.home, 'bin')
  const desktop = join(at.home, 'desktop')
  mkdirSync(bin)
  writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s|' "$@" >> ${desktop}\n`, { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, DISPLAY: ':99' }
  // A project's file has no word in it.
  at.write('heimdall.toml', `[notify]\ncommand = "touch ${join(at.home, 'evil')}"\n`)
  await at.json(['run', '--agent', 'amber-otter', '--detach', '--', ...ASKS], { env })
  await until(
    'everybody to be told',
    () => posted.length > 0 && topics.length > 0 && existsSync(told) && existsSync(desktop),
  )
  expect(readFileSync(told, 'utf8')).toBe('amber-otter needs you|permission, project|\n')
  expect(posted).toHaveLength(1)
  expect(topics).toEqual(['amber-otter needs you|permission, project'])
  expect(readFileSync(desktop, 'utf8')).toBe('--app-name=heimdall|--|amber-otter needs you|permission, project|')
  expect(JSON.parse(posted[0] ?? '')).toMatchObject({ kind: 'permission', agent: 'amber-otter', project: 'project' })
  expect(posted[0]).not.toContain('migrate')
  expect(existsSync(join(at.home, 'evil'))).toBe(false)
})

test('the last line of a run is known to status, without a secret in it', async () => {
  const project = spine()
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  await project.detached('amber-otter', [
    'sh',
    '-c',
    `echo first; printf 'built 12 of 40, token %s%s\\n' ${token.slice(0, 9)} ${token.slice(9)}; read line`,
  ])
  const line = await until('the last line', async () => {
    const { agents } = (await project.json(['status'])) as { agents: { last_line: string | null }[] }
    return agents[0]?.last_line ?? undefined
  })
  expect(line).toBe('built 12 of 40, token [REDACTED]')
  expect(JSON.stringify(project.sheets())).not.toContain(token)
})
