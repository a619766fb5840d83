// Bad days of the hub: started twice, its port taken, a store that it cannot read, a hub that is gone, and one that only shows. And hooks that it answers.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { fleetReply, hubReply, liveEvents } from '../../src/hub/contract.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { spine } from '../spine/spine.ts'
import { ask, comeBack, startHub } from '../support/hub.ts'
import { temporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'

const PATH = `${process.cwd()}/bin:${process.env['PATH'] ?? ''}`
const hubFile = (home: string): string => join(home, '.local/state/heimdall/hub.json')

test('started twice, from elsewhere, on a taken port; killed, and started again, where the same browser comes back to its place in the feed', async () => {
  const project = spine()
  const other = temporaryProject()
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'backend'])
  const hub = await startHub(project)
  const browser = await hub.browser()
  const twice = await runLauncher('heimdall', ['up', '--json'], { cwd: project.root, env: project.env })
  expect(twice.code).toBe(5)
  expect(JSON.parse(twice.stdout)).toMatchObject({ error: { code: 'HUB_RUNNING' } })
  const joined = await runLauncher('heimdall', ['up', '--json'], { cwd: other.root, env: project.env })
  expect(JSON.parse(joined.stdout)).toMatchObject({ ok: true, data: { port: hub.port, added: ['project'] } })
  const { projects } = hubReply.parse(await browser.get('/api/hub'))
  expect(projects.map(({ root }) => root)).toEqual([project.root, other.root])
  expect(fleetReply.parse(await browser.get(`/api/fleet?project=${projects[1]?.project}`)).agents).toEqual([])

  const feed = browser.feed()
  await feed.see('state')
  const { pid } = JSON.parse(readFileSync(hubFile(project.home), 'utf8')) as { readonly pid: number }
  process.kill(pid, 'SIGKILL')
  await until('the feed to end', () => feed.isOver)
  await project.run('heimdall', ['agent', 'add', 'cobalt-harbor', '--role', 'backend'])
  const again = await startHub(project, ['--port', String(hub.port)])
  expect(again.port).toBe(hub.port)
  const back = (await comeBack(again.port, browser.identity)).feed('', feed.lastId)
  expect(liveEvents.hello.parse(await back.see('hello'))).toMatchObject({ reset: false, caught_up: expect.any(Number) })
  await back.see('log', ({ rows }) => rows.some(({ actor }) => actor === 'cobalt-harbor'))
  expect(back.of('log').flatMap(({ rows }) => rows.map(({ actor }) => actor))).not.toContain('amber-otter')
  expect(await again.stop()).toBe(0)

  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await until('a port', () => taken.listening)
  const { port } = taken.address() as { readonly port: number }
  const refused = await runLauncher('heimdall', ['up', '--json', '--port', String(port)], {
    cwd: project.root,
    env: project.env,
  })
  expect(refused.code).toBe(5)
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'HUB_PORT_TAKEN' } })
})

test('a store of a newer version is one banner and the rest is served; read-only changes nothing', async () => {
  const project = spine()
  await project.detached('amber-otter', ['bash', '-c', 'echo here; read x'])
  const hub = await startHub(project, ['--read-only'])
  const browser = await hub.browser()
  const feed = browser.feed()
  await feed.see('state', ({ agents }) => agents.length === 1)
  for (const [path, body] of [
    ['/api/agents/amber-otter/input', { text: 'x' }],
    ['/api/waits/x/snooze', { minutes: 5 }],
    ['/api/notes/x/ack', {}],
    ['/api/approvals/x', { answer: 'allow' }],
    ['/api/pins', { server: 's', tool: 't', hash: 'x'.repeat(16) }],
  ] as const) {
    const reply = await browser.post(path, body)
    expect([path, reply.status, reply.text]).toEqual([path, 403, expect.stringContaining('HUB_READ_ONLY')])
  }
  const terminal = await browser.terminal('/api/terminals/amber-otter')
  expect(await terminal.hears('hello')).toMatchObject({ may_type: false })
  terminal.say({ type: 'keyboard', take: true })
  expect(await terminal.hears('error')).toMatchObject({ code: 'HUB_READ_ONLY' })

  const path = join(project.root, '.git/heimdall/coordination.db')
  const db = openDatabase(path, { migrations: Array.from({ length: 99 }, () => '') })
  db.close()
  const { banners } = await feed.see('state', (state) => (state.banners ?? []).length > 0)
  expect(banners).toMatchObject([{ code: 'STORE_NEWER', missing: expect.any(String), still_works: expect.any(String) }])
  expect((await browser.get<{ agents: unknown[] }>('/api/fleet')).agents).toHaveLength(1)
  await terminal.shows('here')
})

test('a host’s hook that calls the hub is answered as the spawned one is, in the name of the process that asks', async () => {
  const project = spine()
  project.write('src/api.ts', 'x\n')
  project.git('add', '.')
  project.git('commit', '-qm', 'x')
  await project.detached('ivory-lynx', [
    'env',
    `PATH=${PATH}`,
    'bash',
    '-c',
    'heimdall claim src/api.ts --task T-1; read x',
  ])
  await until('the claim', async () => (await project.claims()).length === 1)
  const hub = await startHub(project)
  const { secret } = JSON.parse(readFileSync(hubFile(project.home), 'utf8')) as { readonly secret: string }
  const payload = {
    session_id: 's1',
    cwd: project.root,
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: project.path('src/api.ts'), content: 'y' },
  }
  const script = project.write(
    'ask.mjs',
    `import { request } from 'node:http'
const asking = request({ host: '127.0.0.1', port: ${hub.port}, path: '/hook/claude', method: 'POST', headers: { authorization: 'Bearer ${secret}', 'content-type': 'application/json' } }, (r) => { r.pipe(process.stdout) })
asking.end(${JSON.stringify(JSON.stringify(payload))})`,
  )
  const run = await project.run('heimdall', ['run', '--agent', 'teal-badger', '--', process.execPath, script])
  expect(run.stdout).toContain('"permissionDecision":"deny"')
  expect(run.stdout).toContain('ivory-lynx')
  const unknown = await ask(hub.port, '/hook/nobody', {
    method: 'POST',
    headers: { Host: `127.0.0.1:${hub.port}`, 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: '{}',
  })
  expect(unknown.status).toBe(404)
})

test('a hub that pages look at ends when it is told to, and leaves the sessions alone', async () => {
  const project = spine()
  await project.run('heimdall', ['run', '--agent', 'amber-otter', '--detach', '--', 'bash', '-c', 'echo here; read x'])
  const hub = await startHub(project)
  const browser = await hub.browser()
  // At once, and of different lengths: each look is at the same sessions.
  const feeds = [7, 24, 40].map((lines) => browser.feed(`?screens=${lines}`))
  for (const feed of feeds) await feed.see('screens', ({ screens }) => JSON.stringify(screens).includes('here'))
  expect(await hub.stop()).toBe(0)
  for (const feed of feeds) expect(feed.isOver).toBe(true)
  expect((await project.run('hm', ['peek', 'amber-otter'])).stdout).toContain('here')
})
