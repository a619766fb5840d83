// Where pins live: with the user and not with the repository, whole after a crash, shared by shims that start at once, and never believed from others.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { startWithSecrets } from '../support/bound-secrets.ts'
import { fate, listTools, pinnedServer, tool } from '../support/pinned-server.ts'
import { fixture, launcher } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { bundle, type Json, ofType, type ShimClient } from '../support/shim-client.ts'

test('shims that see a server first at the same time pin the same, and none is refused what all were shown', async () => {
  const server = pinnedServer()
  server.lists(tool('add'), tool('read'))
  const shims = Array.from({ length: 6 }, () => server.shim())
  await Promise.all(shims.map((shim) => listTools(shim)))
  expect(await Promise.all(shims.map((shim) => fate(shim, 'add')))).toEqual(shims.map(() => 'passed'))
  const events = (await Promise.all(shims.map((shim) => shim.end()))).flatMap((end) => end.events)
  expect(ofType(events, 'tools_pinned')).toHaveLength(1)
  expect(ofType(events, 'tools_changed')).toEqual([])
  expect(server.files()).toHaveLength(1)
})

test('of two that are shown different things at first sight one is refused, whichever was first', async () => {
  const server = pinnedServer()
  server.lists(tool('add'))
  const other = join(temporaryFolder(), 'other.json')
  writeFileSync(other, JSON.stringify({ pages: [[tool('add', 'something else')]] }))
  const shims = [server.shim(), server.shim({ env: { LIST_FILE: other } })]
  await Promise.all(shims.map((shim) => listTools(shim)))
  const fates = await Promise.all(shims.map((shim) => fate(shim, 'add')))
  expect(fates.toSorted()).toEqual(['TOOL_CHANGED', 'passed'])
  for (const shim of shims) await shim.end()
})

test('a file that is damaged, open to others or a link is not believed and not written over; policy answers the error', async () => {
  const server = pinnedServer()
  server.lists(tool('add'))
  const first = server.shim()
  await listTools(first)
  await first.end()
  const [path = ''] = server.files()
  const sound = readFileSync(path, 'utf8')
  const refused = async (): Promise<string> => {
    const shim = server.shim()
    await listTools(shim)
    const answer = await shim.call('add')
    await shim.end()
    return `${answer['error']?.data.subluminal.reason_code ?? 'passed'}: ${answer['error']?.message ?? ''}`
  }
  for (const damaged of [sound.slice(0, 40), '[]', '{"v":1}', sound.replace('"fake"', '"git"')]) {
    writeFileSync(path, damaged)
    expect(await refused()).toContain('POLICY_ERROR: ')
    expect(readFileSync(path, 'utf8')).toBe(damaged)
    expect((await server.pin('show', 'fake')).code).toBe(8)
  }
  writeFileSync(path, sound)
  chmodSync(path, 0o622)
  expect(await refused()).toContain('can be written by others')
  chmodSync(path, 0o600)
  expect(await refused()).toBe('passed: ')
})

test('a project cannot bring pins along: linked worktrees are one project, a clone is another', async () => {
  const project = temporaryProject()
  const home = temporaryFolder()
  const server = pinnedServer()
  server.lists(tool('add'))
  const run = async (cwd: string): Promise<Json[]> => {
    const shim = server.shim({ cwd, home })
    await listTools(shim)
    return (await shim.end()).events
  }
  expect(ofType(await run(project.root), 'tools_pinned')).toHaveLength(1)
  project.git('worktree', 'add', '--quiet', project.path('../linked'))
  expect(ofType(await run(project.path('../linked')), 'tools_pinned')).toEqual([])
  project.git('clone', '--quiet', project.root, project.path('../clone'))
  expect(ofType(await run(project.path('../clone')), 'tools_pinned')).toHaveLength(1)
  expect(project.git('status', '--porcelain')).toBe('')
})

test('a folder of pins that is a link elsewhere, and a disk that takes nothing: told, and policy answers', async () => {
  const server = pinnedServer()
  server.lists(tool('add'))
  const pins = join(server.home, '.local/state/heimdall/pins')
  mkdirSync(dirname(pins), { recursive: true, mode: 0o700 })
  symlinkSync('/proc/nowhere', pins)
  const shim = server.shim()
  await listTools(shim)
  expect(await fate(shim, 'add')).toBe('POLICY_ERROR')
  // Compared with the next call after the disk works again: nobody has to ask for the list once more.
  rmSync(pins)
  expect(await fate(shim, 'add')).toBe('passed')
  server.lists(tool('add', 'changed'))
  await listTools(shim)
  expect(await fate(shim, 'add')).toBe('TOOL_CHANGED')
  const { events } = await shim.end()
  expect(
    ofType(events, 'shim_log')
      .map(({ log }) => String(log.text))
      .join('\n'),
  ).toContain('tools cannot be pinned')
  rmSync(pins, { recursive: true })
  symlinkSync('/proc/nowhere', pins)
  const guarded = server.shim({}, 'guardrails')
  await listTools(guarded)
  expect(await fate(guarded, 'add')).toBe('passed')
  await guarded.end()
})

test('nothing that a server calls its tools can paint on a terminal, and nothing is hidden from the person', async () => {
  const server = pinnedServer()
  server.lists(tool('add'))
  const shim = server.shim()
  await listTools(shim)
  const evil = 'add it\u001b[2J\u001b]0;owned\u0007\u202e\u200b\u{e0068}\u{e0069}'
  server.lists(tool('add', evil), tool("it's\n\u001b[31mred"))
  await listTools(shim)
  for (const words of [['list'], ['show', 'fake'], ['show', 'fake', 'add'], ['show', 'fake', '--json']]) {
    const { stdout } = await server.pin(...words)
    // oxlint-disable-next-line no-control-regex -- they are what it is about
    expect(stdout, words.join(' ')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]|\udb40/)
  }
  const { stdout } = await server.pin('show', 'fake', 'add')
  expect(stdout).toContain(String.raw`\u001b[2J\u001b]0;owned\u0007\u{202e}\u{200b}\u{e0068}\u{e0069}`)
  const { events } = await shim.end()
  expect(JSON.stringify(ofType(events, 'tools_changed'))).toContain('e0068')
})

test('secrets of the server that stand in its list are in no pin and in no event', async () => {
  const home = temporaryFolder()
  const project = temporaryFolder()
  const secret = 'correct-horse-battery'
  const listFile = join(temporaryFolder(), 'lists.json')
  const start = (words: string): ShimClient => {
    writeFileSync(listFile, JSON.stringify({ pages: [[tool('add', `${words} ${secret}`)]] }))
    return startWithSecrets([{ value: secret }], {
      home,
      cwd: project,
      server: fixture('listing-server'),
      policy: bundle([], { mode: 'control' }),
      env: { LIST_FILE: listFile },
    })
  }
  const first = start('use')
  await listTools(first)
  await first.end()
  const second = start('always use')
  await listTools(second)
  expect(await fate(second, 'add')).toBe('TOOL_CHANGED')
  const { events } = await second.end()
  expect(JSON.stringify(ofType(events, 'tools_changed'))).toContain('always use')
  expect(JSON.stringify(events)).not.toContain(secret)
  const pins = join(home, '.local/state/heimdall/pins')
  for (const name of readdirSync(pins)) expect(readFileSync(join(pins, name), 'utf8')).not.toContain(secret)
})

test('the stock client: lists, hears of a change, lists again, is refused with the hint, and goes on once it is approved', async () => {
  const server = pinnedServer()
  server.lists(tool('add'), tool('announce'))
  const policy = join(temporaryFolder(), 'policy.json')
  writeFileSync(policy, JSON.stringify(bundle([], { mode: 'control' })))
  const [command, bin] = launcher('heimdall')
  const client = new Client({ name: 'stock', version: '1' })
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve())
  })
  await client.connect(
    new StdioClientTransport({
      command,
      args: [bin, 'mcp', 'shim', '--server-name=fake', `--policy=${policy}`, '--', ...fixture('listing-server')],
      env: { PATH: process.env['PATH'] ?? '', ...server.env },
      cwd: server.project,
    }),
  )
  await client.listTools()
  expect(await client.callTool({ name: 'add', arguments: {} })).toMatchObject({ content: [{ text: 'add done' }] })
  server.lists(tool('add', 'poisoned'), tool('announce'))
  await client.callTool({ name: 'announce', arguments: {} })
  await changed
  expect((await client.listTools()).tools[0]?.description).toBe('poisoned')
  await expect(client.callTool({ name: 'add', arguments: {} })).rejects.toMatchObject({
    code: -32_083,
    message: expect.stringContaining('heimdall mcp pins show fake'),
  })
  const { review_hash: review } = await server.pinData('show', 'fake')
  expect((await server.person('approve', 'fake', '--hash', review as string)).code).toBe(0)
  expect(await client.callTool({ name: 'add', arguments: {} })).toMatchObject({ content: [{ text: 'add done' }] })
  await client.close()
})

test('a project that is not there is said to be none', async () => {
  const project = temporaryProject()
  const { code, stderr } = await project.run('heimdall', [
    'mcp',
    'pins',
    'list',
    '--project',
    join(project.root, 'gone'),
  ])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^error: --project takes the folder of a project; there is no folder .*\/gone\nhint: .*\n$/)
})
