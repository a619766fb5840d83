// The seed's own example of a brief ended with 1 where INVARIANTS.md is not; the report called all runs "this run"; and
// claims, identities and what agents read over MCP were missing from protocol.log.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { publishedSchema } from '../../src/briefing/messages.ts'
import { launcher, runProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

test('seed 000, brief: --invariants INVARIANTS.md without such a file is a reference, as given, with a warning', async () => {
  const project = temporaryProject()
  await project.run('heimdall-resolve', ['set', 'F12', 'src/matching/engine.ts'])
  const args = ['build', '--task', '3.2', '--spec', 'implement book diff', '--symbols', 'F12']
  const built = await project.run('heimdall-brief', [...args, '--invariants', 'INVARIANTS.md'])
  expect(built).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^INVARIANTS REF: INVARIANTS\.md$/m),
    stderr: expect.stringContaining('warning: invariants "INVARIANTS.md": there is no such file here'),
  })
  project.write('INVARIANTS.md', '# Sums\n')
  const checked = await project.run('heimdall-brief', [...args, '--invariants', 'INVARIANTS.md#sums'])
  expect(checked).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('(verified: file + anchor)') })
  expect(await project.run('heimdall-brief', [...args, '--invariants', 'INVARIANTS.md#gone'])).toMatchObject({
    code: 1,
  })
})

test('heimdall message schema prints what protocol init writes', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['protocol', 'init'])
  const { stdout } = await project.run('heimdall', ['message', 'schema'])
  expect(stdout).toBe(readFileSync(project.path('.planning/protocol/message-schema.json'), 'utf8'))
  expect(JSON.parse(stdout)).toEqual(publishedSchema())
})

test('tokens report says over what it sums, and this run is this run', async () => {
  const project = temporaryProject()
  const log = (tokens: string, run?: string) =>
    project.run('heimdall', ['tokens', 'log', '--role', 'coder', '--kind', 'brief', '--tokens', tokens], {
      env: run === undefined ? {} : { SUB_RUN_ID: run },
    })
  await log('5')
  await log('70', 'r1')
  await log('600', 'r2')
  const report = async (args: readonly string[], run?: string): Promise<string> =>
    (
      await project.run('heimdall', ['tokens', 'report', ...args], {
        env: run === undefined ? {} : { SUB_RUN_ID: run },
      })
    ).stdout
  expect(await report([])).toMatch(
    /\(all runs\)\n.*\n {2}TOTAL: 675 tokens\n.*\n {2}over 3 rows of 3 runs, 20\S+Z to 20\S+Z\n$/,
  )
  expect(await report([], 'r1')).toMatch(/\(this run\)\n.*\n {2}TOTAL: 70 tokens\n.*\n {2}over 1 rows of 1 runs/)
  expect(await report(['--run', 'r2'], 'r1')).toMatch(/\(run r2\)\n.*\n {2}TOTAL: 600 tokens/)
  expect(await report(['--all'], 'r1')).toMatch(/\(all runs\)\n.*\n {2}TOTAL: 675 tokens/)
  expect(await report([], 'none')).toContain('over no rows')
})

test('claims, identities and what is read over MCP are in protocol.log, once', async () => {
  const project = temporaryProject()
  await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'coder'])
  await project.run('heimdall', ['claim', 'take', 'src', '--agent', 'amber-otter', '--task', 'T-1'])
  await project.run('heimdall', ['capsule', 'write', 'w1', '--what', 'the parser'])
  const call = (id: number, name: string, args: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`
  const stdin = [
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n',
    call(1, 'read_claims', {}),
    call(2, 'read_capsules', { id: 'w1' }),
    call(3, 'make_claim', { surfaces: ['docs'], task: 'T-2' }),
  ].join('')
  await runProgram(launcher('heimdall-ledger-mcp'), { cwd: project.root, env: project.env, stdin })
  const rows = project
    .read('.planning/protocol.log')
    .trim()
    .split('\n')
    .map((line) => line.split('\t').slice(1, 3).join(' '))
  expect(rows.filter((row) => /^(haid|claim|mcp) /.test(row))).toEqual([
    'haid register',
    'claim claim',
    'mcp read-claims',
    'mcp read-capsules',
    'haid register',
    'claim claim',
    'haid session-end',
  ])
})
