// Read commands on a read-only file system.
import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { enter, openRoom, wants } from '../coordination/room.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'

// Reading needs no write, though SQLite creates files next to a database.
const NOBODY = 65_534

/** Nothing in the project or its home can be written by whoever runs `act`: root steps down for it, others lose the bits. */
async function asReader<T>(
  project: TemporaryProject,
  act: (
    run: (...args: string[]) => Promise<string>,
    speak: (lines: readonly object[]) => Promise<string>,
  ) => Promise<T>,
): Promise<T> {
  const folder = dirname(project.root)
  const chmod = (mode: string): void => void spawnSync('chmod', ['-R', mode, folder])
  chmod('a+rX,a-w')
  const isRoot = process.getuid?.() === 0
  const start = ([file = '', ...words]: readonly string[], input = '') =>
    new Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }>((resolve) => {
      const options = {
        cwd: project.root,
        env: { PATH: process.env['PATH'], ...project.env },
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      }
      const child = execFile(file, words, options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (error.code ?? ''), stdout, stderr }),
      )
      child.stdin?.end(input)
    })
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await start([...launcher('heimdall'), ...args])
    return `${args.join(' ')}: ${code}\n${stdout}${stderr}`
  }
  const speak = async (lines: readonly object[]): Promise<string> =>
    (await start(launcher('heimdall-ledger-mcp'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))).stdout
  try {
    // The folder is what it is meant to be.
    const probe = spawnSync('touch', ['x'], { cwd: project.root, ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) })
    expect(probe.status).toBe(1)
    return await act(run, speak)
  } finally {
    chmod('u+w')
  }
}

async function prepared(): Promise<TemporaryProject> {
  const project = temporaryProject()
  for (const args of [
    ['agent', 'add', 'amber-otter', '--role', 'backend'],
    ['claim', 'src', '--agent', 'amber-otter', '--task', 'T-1'],
    ['task', 'start', 'T-1', '--agent', 'amber-otter'],
    ['symbol', 'set', 'API', 'src/api.ts'],
    ['fact', 'set', 'port', '3000'],
    ['capsule', 'write', 'c1', '--what', 'the parser', '--status', 'done'],
    ['tokens', 'log', 'backend', 'spawn', '12'],
  ])
    await project.run('heimdall', args)
  return project
}

const READERS = [
  ['claim list', 'amber-otter'],
  ['claim check docs', 'clear: docs'],
  ['claim history', 'CLAIM'],
  ['why src/a.ts', 'held by    amber-otter'],
  ['agent list', 'amber-otter'],
  ['agent show amber-otter', 'amber-otter'],
  ['note list --agent amber-otter', ''],
  ['task list', ''],
  ['symbol list', 'src/api.ts'],
  ['symbol get API', 'src/api.ts'],
  ['fact list', '3000'],
  ['fact get port', '3000'],
  ['capsule list', ''],
  ['tokens report', 'TOTAL'],
  ['protocol log', 'set'],
  ['config list', 'scrollback_bytes'],
  ['ls', 'AGENT'],
] as const

test('every reading command answers in a folder where nothing can be written', async () => {
  const project = await prepared()
  await asReader(project, async (run) => {
    await Promise.all(
      READERS.map(async ([words, part]) => {
        const answer = await run(...words.split(' '))
        expect(answer).toContain(`${words}: 0\n`)
        expect(answer).toContain(part)
      }),
    )
    expect(await run('claim', 'check', 'src/a.ts')).toContain('claim check src/a.ts: 5')
    expect(await run('claim', 'docs', '--agent', 'amber-otter')).toMatch(/: [1-9]\d*\n/)
  })
})

test('the tools that read answer over MCP too; the others are refused and say why', async () => {
  const project = await prepared()
  const asked = (id: number, name: string, args: object = {}): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const clientInfo = { name: 'cursor', version: '1' }
  const said = await asReader(project, (_, speak) =>
    speak([
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      asked(2, 'read_claims'),
      asked(3, 'make_claim', { surfaces: ['docs'], task: 'T-2' }),
      asked(4, 'check_claim', { surfaces: ['src/a.ts'] }),
    ]),
  )
  const answers = said.split('\n').filter((line) => line !== '')
  const answerTo = (id: number): unknown =>
    answers.map((line) => JSON.parse(line) as { id?: number }).find((answer) => answer.id === id)
  expect(answerTo(2)).toMatchObject({ result: { isError: false, structuredContent: { count: 1 } } })
  expect(answerTo(3)).toMatchObject({ result: { isError: true } })
  expect(answerTo(4)).toMatchObject({ result: { isError: false, structuredContent: { clear: false } } })
})

test('what arrived by git meanwhile is mentioned, and the rest is answered', async () => {
  const project = await prepared()
  project.write('.planning/ledger/events.jsonl', `${project.read('.planning/ledger/events.jsonl')}{}\n`)
  await asReader(project, async (run) => {
    const answer = await run('claim', 'list')
    expect(answer).toContain('amber-otter')
    expect(answer).toContain('warning: what arrived by git is not taken in')
    expect(await run('doctor')).toMatch(/warn {2}coordination: +\S+ is not writable/)
  })
})

test('commits in a log that a crash left beside the database are read too', async () => {
  const room = openRoom({ project: temporaryProject() })
  await claimScopes(room, await enter(room, 'amber-otter'), wants(room, 'src'))
  // As after a power cut: the log is there, and what belongs to running processes is not.
  const project = temporaryProject()
  const folder = project.path('.git/heimdall')
  mkdirSync(folder)
  for (const name of ['coordination.db', 'coordination.db-wal'])
    copyFileSync(join(room.project.coordinationDir, name), join(folder, name))
  await asReader(project, async (run) => expect(await run('claim', 'history')).toContain('CLAIM\tamber-otter\t\tsrc'))
})
