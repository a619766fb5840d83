// doctor over time: what was found is mended, by --fix or by hand, and found no longer. What each row says when it is broken is in doctor-broken.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { playHost } from '../support/played-host.ts'
import { launcher, runProgram, startProgram } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'

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
  await project.run('heimdall', ['agent', 'add', 'amber-otter', '--role', 'x'])
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

test('the text shows problems with commands to paste, folded between words, and --all what passed', async () => {
  const project = temporaryProject()
  const at = async (columns: number, ...flags: string[]): Promise<string> => {
    const terminal = ownTerminal(
      ['sh', '-c', `stty cols ${columns}; exec "$@"`, 'sh', ...launcher('heimdall'), 'doctor', '--no-color', ...flags],
      { cwd: project.root, env: project.env },
    )
    expect(await terminal.ended, terminal.written()).toBe(0)
    return terminal.written().replaceAll('\r', '')
  }
  const wide = await at(200)
  expect(wide).toMatch(
    /^warn  git guard: commits in .* are not guarded\n {6}heimdall guard install\n1 warning, \d+ ok\n$/,
  )
  const narrow = await at(40)
  expect(narrow.split(/\s+/)).toEqual(wide.split(/\s+/))
  // A path is one word, and may be longer than the line.
  for (const line of narrow.split('\n')) expect(line.length <= 40 || /^ *\S+$/.test(line), line).toBe(true)
  const all = await at(80, '--all')
  expect(all).toMatch(/^ok    node: Node\.js v/m)
  expect(all).toMatch(/^ok    claude hooks: Claude Code is not installed$/m)
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
  expect(bare['codex hooks']).toMatchObject({
    state: 'fail',
    fix: expect.stringContaining('correct the file') as string,
  })
  expect(bare['gemini hooks']).toMatchObject({ state: 'ok', found: 'Gemini CLI is not installed' })
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
  expect(lost['git guard']).toMatchObject({ state: 'fail', found: 'only 3 of 4 git hooks are installed' })
  const mended = await doctor(project, ['--fix'])
  expect(mended['git guard']).toMatchObject({ state: 'ok', fixed: true })
  expect(mended['claude hooks']).toMatchObject({ state: 'warn', fix: 'start claude here' })

  const host = playHost(project)
  await host.hook('SessionStart')
  const called = await doctor(project)
  expect(called['claude hooks']).toMatchObject({ state: 'ok', found: expect.stringContaining('last called') as string })
  expect(called['host sessions']).toMatchObject({ state: 'ok', found: '1 active host sessions, all guarded' })
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

// doctor finds a store that is corrupt, newer, or locked.
describe('stores', () => {
  const STORE = '.git/heimdall/coordination.db'

  async function doctor(project: TemporaryProject): Promise<{ code: number | null; rows: Record<string, string> }> {
    const { code, stdout } = await project.run('heimdall', ['doctor', '--json'])
    const { data } = JSON.parse(stdout) as { data: { checks: { check: string; state: string; found: string }[] } }
    return {
      code,
      rows: Object.fromEntries(data.checks.map(({ check, state, found }) => [check, `${state} ${found}`])),
    }
  }

  type Run = (project: TemporaryProject, ...args: string[]) => Promise<unknown>
  const inProcess: Run = (project, ...args) => project.run('heimdall', args)
  /** The driver may keep a store open after a command in this process: what is damaged then is a file in use. */
  const inOwnProcess: Run = ({ root, env }, ...args) =>
    runProgram([...launcher('heimdall'), ...args], { cwd: root, env })

  async function used(run = inProcess): Promise<TemporaryProject> {
    const project = temporaryProject()
    await run(project, 'agent', 'add', 'amber-otter', '--role', 'x')
    await run(project, 'symbol', 'set', 'API', 'src/api.ts')
    return project
  }

  test('sound stores are named', async () => {
    expect(await doctor(await used())).toMatchObject({
      code: 0,
      rows: {
        coordination: expect.stringMatching(/^ok .*coordination\.db, \d+ KiB$/),
        briefing: 'ok 1 symbols, 0 facts, 0 capsules, 0 ledger rows',
      },
    })
  })

  test('a corrupt store', async () => {
    const project = await used(inOwnProcess)
    writeFileSync(project.path(STORE), 'not a database, and longer than a header'.repeat(100))
    project.write('.planning/protocol/symbols.json', '{"version":')
    const { code, rows } = await doctor(project)
    expect(code).toBe(1)
    expect(rows['coordination']).toMatch(/^fail corrupt: .*coordination\.db/)
    expect(rows['briefing']).toMatch(/^fail corrupt: .*symbols\.json/)
  })

  test('a store of a newer version', async () => {
    const project = await used()
    const db = openDatabase(project.path(STORE), { migrations: Array.from({ length: 99 }, () => 'SELECT 1') })
    db.close()
    project.write('.planning/blackboard.json', '{"version": "3.0.0", "facts": {}}')
    const { rows } = await doctor(project)
    expect(rows['coordination']).toMatch(/^fail newer: .*schema version 99/)
    expect(rows['briefing']).toMatch(/^fail newer: /)
  })

  test('a store of an older version is left as it is', async () => {
    const project = await used()
    const versionOf = (set = ''): unknown => {
      const db = openDatabase(project.path(STORE), {
        migrations: Array.from({ length: 99 }, () => ''),
        readOnly: set === '',
      })
      if (set !== '') db.exec(set)
      const version = db.prepare('PRAGMA user_version').get()
      db.close()
      return version
    }
    versionOf('PRAGMA user_version = 0')
    expect((await doctor(project)).rows['coordination']).toMatch(/^ok .* of an older version/)
    expect(versionOf()).toEqual({ user_version: 0 })
  })

  test('a store that another process holds', async () => {
    const project = await used()
    const holder = openDatabase(project.path(STORE), {
      migrations: Array.from(
        { length: (await import('../../src/coordination/sqlite/schema.ts')).MIGRATIONS.length },
        () => '',
      ),
    })
    holder.exec('BEGIN IMMEDIATE')
    const { rows } = await doctor(project)
    holder.exec('ROLLBACK')
    holder.close()
    expect(rows['coordination']).toMatch(/^fail locked: /)
  })
})
