// doctor over time: what was found is mended, by --fix or by hand, and found no longer. What each row says when it is broken is in doctor-broken.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { playHost } from '../support/played-host.ts'
import { startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

interface Row {
  readonly check: string
  readonly state: string
  readonly found: string
  readonly fix: string | null
  readonly fixed?: true
}

async function doctor(
  project: TemporaryProject,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Record<string, Row>> {
  const { stdout, stderr } = await project.run('heimdall', ['doctor', '--json', ...flags], { env })
  if (stdout === '') throw new Error(stderr)
  const { data } = JSON.parse(stdout) as { data: { checks: Row[] } }
  return Object.fromEntries(data.checks.map((row) => [row.check, row]))
}

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test('folders and keys that are open to others are closed by --fix', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'x'])
  const sessions = join(project.home, '.local/share/heimdall/sessions')
  mkdirSync(sessions, { recursive: true })
  chmodSync(sessions, 0o755)
  const state = join(project.home, '.local/state/heimdall')
  put(join(state, 'secrets/secrets.json'), '{}')
  chmodSync(state, 0o755)
  chmodSync(join(state, 'secrets/secrets.json'), 0o644)
  const keys = project.path('.git/heimdall/keys')
  for (const name of readdirSync(keys).filter((file) => file.endsWith('.key'))) chmodSync(join(keys, name), 0o644)
  const open = ['sessions', 'state folder', 'private secrets', 'private keys']
  const before = await doctor(project, ['--security'])
  for (const check of open)
    expect(before[check]).toMatchObject({ state: 'fail', fix: expect.stringMatching(/^chmod [67]00 /) as string })
  const after = await doctor(project, ['--security', '--fix'])
  for (const check of open) expect([check, after[check]]).toMatchObject([check, { state: 'ok', fixed: true }])
})

test('a server of Codex in the background is named, of this home alone', async () => {
  const project = temporaryProject()
  project.write('app-server', 'echo up; read -r line\n')
  // The words that Codex 0.166.0 starts it with.
  const words = ['app-server', '--listen', 'unix://', '--analytics-default-enabled', '--managed-daemon']
  const server = startProgram(['bash', '-c', 'exec -a codex bash "$@"', 'bash', ...words], {
    cwd: project.root,
    env: project.env,
  })
  await server.waitForLine('up')
  expect((await doctor(project))['codex server']).toMatchObject({
    state: 'warn',
    found: expect.stringContaining(`pid ${server.pid}`) as string,
    fix: expect.stringContaining('--no-daemon') as string,
  })
  const elsewhere = { CODEX_HOME: join(project.home, 'other') }
  expect((await doctor(project, [], elsewhere))['codex server']).toMatchObject({ state: 'ok' })
  server.kill('SIGKILL')
  await server.ended
  expect((await doctor(project))['codex server']).toMatchObject({ state: 'ok' })
})

test('hosts: no hooks, broken files, lost programs, switched off, never called, called; guard, ledger and servers', async () => {
  const project = temporaryProject()
  put(
    join(project.home, '.claude.json'),
    '{ "mcpServers": { "git": { "command": "mcp-server-git" }, "far": { "url": "https://x" } } }',
  )
  put(join(project.home, '.codex/hooks.json'), '{ "hooks": [')
  project.write('.mcp.json', '{ "mcpServers": { "x": { "command": "evil" } } }')
  const bare = await doctor(project, ['--security'])
  expect(bare['claude hooks']).toMatchObject({ state: 'warn', fix: 'heimdall init claude' })
  expect(bare['codex hooks']).toMatchObject({ state: 'fail', fix: expect.stringContaining('mend the file') as string })
  expect(bare['gemini hooks']).toMatchObject({ state: 'ok', found: 'Gemini CLI is not on this machine' })
  expect(bare['cursor hooks']).toMatchObject({ state: 'ok' })
  expect(bare['git guard']).toMatchObject({ state: 'warn', fix: 'heimdall guard install' })
  expect(bare['ledger servers']).toMatchObject({ state: 'warn', fix: 'heimdall init claude codex' })
  expect(bare['unseen servers']?.found).toMatch(/git \(Claude Code\), far \(Claude Code\)/)
  expect(bare['project files']).toMatchObject({ state: 'warn', found: expect.stringContaining('.mcp.json') as string })

  put(join(project.home, '.codex/hooks.json'), '{}')
  rmSync(project.path('.mcp.json'))
  await project.run('heimdall', ['init', '--yes'])
  const there = await doctor(project, ['--security'])
  expect(there['claude hooks']).toMatchObject({ state: 'warn', fix: 'start claude here' })
  expect(there['codex hooks']).toMatchObject({
    state: 'warn',
    fix: expect.stringContaining('trust the hooks') as string,
  })
  expect(there['git guard']).toMatchObject({ state: 'ok' })
  expect(there['ledger servers']).toMatchObject({ state: 'ok' })
  expect(there['strict hooks']).toMatchObject({ state: 'warn', fix: 'heimdall init --strict' })

  put(
    join(project.home, '.codex/config.toml'),
    `${readFileSync(join(project.home, '.codex/config.toml'), 'utf8')}\n[features]\nhooks = false\n`,
  )
  expect((await doctor(project))['codex hooks']).toMatchObject({
    state: 'fail',
    found: expect.stringContaining('features.hooks') as string,
  })
  const settings = join(project.home, '.claude/settings.json')
  const text = readFileSync(settings, 'utf8')
  put(settings, text.replace('{', '{ "disableAllHooks": true,'))
  expect((await doctor(project))['claude hooks']).toMatchObject({
    state: 'fail',
    fix: expect.stringContaining('disableAllHooks') as string,
  })

  // The program that the lines start was moved: the host hears 127 and goes on, unless somebody says so.
  put(
    settings,
    text.replaceAll(/"command": "[^"]* hook claude"/g, '"command": "/gone/node /gone/bin/heimdall hook claude"'),
  )
  rmSync(project.path('.git/hooks/post-commit'))
  const lost = await doctor(project)
  expect(lost['claude hooks']).toMatchObject({ state: 'fail', fix: 'heimdall init claude' })
  expect(lost['git guard']).toMatchObject({ state: 'fail', found: '3 of 4 hooks of the guard are there' })
  const mended = await doctor(project, ['--fix'])
  expect(mended['git guard']).toMatchObject({ state: 'ok', fixed: true })
  expect(mended['claude hooks']).toMatchObject({ state: 'warn', fix: 'start claude here' })

  const host = playHost(project)
  await host.hook('SessionStart')
  const called = await doctor(project)
  expect(called['claude hooks']).toMatchObject({ state: 'ok', found: expect.stringContaining('last called') as string })
  expect(called['host sessions']).toMatchObject({ state: 'ok', found: '1 host sessions at work, all guarded' })
  const transcript = project.write(
    '../t.jsonl',
    `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 'x', name: 'Edit' }] } })}\n`,
  )
  await host.hook('Stop', { transcript_path: transcript })
  const weak = await doctor(project)
  expect(weak['host sessions']).toMatchObject({
    state: 'fail',
    fix: expect.stringContaining('heimdall hosts') as string,
  })
  expect(weak['claude hooks']).toMatchObject({ state: 'fail' })
})
