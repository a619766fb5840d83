// heimdall policy init from outside: real servers of a host's own configuration are started, asked, ended; what is written holds.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { fixture, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import type { Json } from '../support/shim-client.ts'

interface Place {
  readonly home: string
  readonly project: string
}

function place(userServers: object, projectServers: object = {}): Place {
  const home = temporaryFolder()
  const project = join(home, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: userServers }))
  writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: projectServers }))
  return { home, project }
}

async function init({ home, project }: Place, ...words: string[]): Promise<{ code: number | null; answer: Json }> {
  const { code, stdout, stderr } = await runLauncher('heimdall', ['policy', 'init', '--json', ...words], {
    cwd: project,
    env: { HOME: home },
  })
  return { code, answer: JSON.parse(stdout === '' ? stderr : stdout) as Json }
}

const serverOf = ([command, ...args]: readonly string[], env: object = {}): object => ({ command, args, env })
const fake = (tools: readonly object[]): object =>
  serverOf(fixture('shim-upstream'), { FAKE_TOOLS: JSON.stringify(tools) })

/** Starts, says so in a file, and never answers. */
const marking = (path: string): object => serverOf(['/bin/sh', '-c', `echo started >> ${path}; exec cat >/dev/null`])

test('tools are sorted by what their servers and names say, and the policy passes lint and its own cases', async () => {
  const files = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
  const at = place({
    files: serverOf([process.execPath, files, '.']),
    'odd "name"': fake([
      { name: 'frobnicate', annotations: { readOnlyHint: true } },
      { name: 'get_all', annotations: { destructiveHint: true } },
      { name: 'delete_page', annotations: { readOnlyHint: true } },
      { name: 'a*[b]?', annotations: {} },
      { name: 'line\nbreak: # x', annotations: {} },
      { name: 'true', annotations: { readOnlyHint: true } },
    ]),
    broken: serverOf(['/bin/sh', '-c', 'exit 3']),
    missing: serverOf(['/no/such/program']),
    remote: { type: 'http', url: 'https://example.com/mcp' },
    filled: serverOf(['node', '${input:token}']),
  })
  const { code, answer } = await init(at, '--host', 'claude')
  expect(code, JSON.stringify(answer)).toBe(0)
  const rows = (answer['data'].servers as Json[]).map(({ name, outcome, why }) => [name, outcome, why] as unknown[])
  expect(rows).toEqual([
    ['files', 'asked', null],
    ['odd "name"', 'asked', null],
    ['broken', 'silent', expect.stringContaining('exited without a response')],
    ['missing', 'silent', expect.stringContaining('exited without a response')],
    ['remote', 'skipped', expect.stringContaining('remote')],
    ['filled', 'skipped', expect.stringContaining('placeholders')],
  ])
  const policy = join(at.project, 'heimdall-policy.yaml')
  const text = readFileSync(policy, 'utf8')
  expect(text).toContain('- read_text_file # its server says that it only reads')
  expect(text).toContain('# broken is not in it: it exited without a response')
  const run = (...words: string[]): ReturnType<typeof runLauncher> =>
    runLauncher('heimdall', ['policy', ...words], { cwd: at.project, env: { HOME: at.home } })
  expect(await run('lint', '--strict', policy)).toMatchObject({ code: 0 })
  expect(await run('test', 'heimdall-policy.cases.yaml')).toMatchObject({ code: 0 })
  const said = async (server: string, tool: string): Promise<string> => {
    const { stdout } = await run('explain', policy, '--server', server, '--tool', tool, '--json')
    const { decision } = (JSON.parse(stdout) as Json)['data'] as Json
    return `${decision.action} ${decision.rule_id}`
  }
  expect(await said('files', 'read_text_file')).toBe('ALLOW reads-files')
  expect(await said('files', 'write_file')).toMatch(/^(ALLOW writes|REJECT_WITH_HINT ask-before)-files$/)
  expect(await said('odd "name"', 'frobnicate')).toMatch(/^ALLOW reads-/)
  expect(await said('odd "name"', 'get_all')).toMatch(/^REJECT_WITH_HINT ask-before-/)
  // A server that calls its delete a read is not taken at its word.
  expect(await said('odd "name"', 'delete_page')).toMatch(/^REJECT_WITH_HINT ask-before-/)
  expect(await said('odd "name"', 'a*[b]?')).toMatch(/^REJECT_WITH_HINT ask-what-is-/)
  expect(await said('odd "name"', 'axb')).toBe('REJECT_WITH_HINT ask-about-the-rest')
  // Never overwrites, and starts nothing only to find that out.
  expect(await init(at)).toMatchObject({ code: 5, answer: { error: { code: 'FILE_EXISTS' } } })
  expect(readFileSync(policy, 'utf8')).toBe(text)
})

test('what a project names is not started unasked, nor by an agent, nor without a yes', async () => {
  const marker = join(temporaryFolder(), 'started')
  const at = place({ mine: fake([{ name: 'get_it' }]) }, { theirs: marking(marker) })
  const first = await init(at)
  expect(first.answer['data'].servers).toMatchObject([
    { name: 'mine', outcome: 'asked' },
    { name: 'theirs', outcome: 'skipped', why: expect.stringContaining('--shared') },
  ])
  expect(await init(at, '--shared', '--out', 'b.yaml')).toMatchObject({
    code: 4,
    answer: { error: { code: 'PERSON_REQUIRED' } },
  })
  const terminal = ownTerminal([...launcher('heimdall'), 'policy', 'init', '--shared', '--out', 'c.yaml'], {
    cwd: at.project,
    env: { HOME: at.home },
  })
  await terminal.see('Start these programs of the project?')
  expect(terminal.written()).toContain('/bin/sh -c echo started')
  terminal.type('n\n')
  expect(await terminal.ended).toBe(0)
  expect(existsSync(marker)).toBe(false)
  expect(await init(at, '--shared', '--dry-run')).toMatchObject({
    code: 0,
    answer: { data: { servers: [{ outcome: 'would_ask' }, { outcome: 'would_ask' }], dry_run: true, policy: null } },
  })
  expect(existsSync(marker)).toBe(false)
})

test('--from copies a ready policy with its cases, which pass under their new name', async () => {
  const at = place({})
  for (const name of ['careful', 'no-force-push', 'observe', 'safe-defaults', 'strict-ci']) {
    expect(await init(at, '--from', name, '--out', `${name}-mine.yaml`)).toMatchObject({ code: 0 })
    const { code, stdout } = await runLauncher('heimdall', ['policy', 'test', `${name}-mine.cases.yaml`], {
      cwd: at.project,
    })
    expect(code, stdout).toBe(0)
  }
  expect(await init(at, '--from', 'observe', '--out', 'observe-mine.yaml')).toMatchObject({ code: 5 })
  expect(await init(at)).toMatchObject({ code: 3, answer: { error: { code: 'HOST_NOT_FOUND' } } })
})
