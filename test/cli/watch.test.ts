// heimdall watch: entries and sessions as they happen, one line each.
import { expect, test } from 'vitest'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

const watch = (project: TemporaryProject, ...flags: string[]): Program =>
  startProgram([...launcher('heimdall'), 'watch', ...flags], { cwd: project.root, env: project.env })

interface Line {
  readonly type: string
  readonly seq?: number
  readonly author?: { readonly haid: string | null; readonly session_id: string | null; readonly run_id: string | null }
  readonly events?: readonly { readonly event_type: string }[]
}

const nextEntry = async (program: Program): Promise<Line> =>
  JSON.parse(await program.nextLine(/^\{"type":"entry"/)) as Line

test('a claim, its release and who made them are told as they happen, also of a repository where nobody has acted yet', async () => {
  const project = temporaryProject()
  const program = watch(project, '--json')
  const env = { HEIMDALL_SESSION_ID: 'build-7', SUB_RUN_ID: 'run-42' }
  await program.nextLine('{"type":"following","after":0}')
  expect((await project.run('bb', ['agent', 'register', '--name', 'amber-otter', '--role', 'ui'])).code).toBe(0)
  expect(await nextEntry(program)).toMatchObject({ seq: 1, events: [{ event_type: 'REGISTER' }] })
  const reserve = ['agent', 'reserve', '--agent', 'amber-otter', '--scope', 'src']
  expect((await project.run('bb', reserve)).code).toBe(0)
  const claim = await nextEntry(program)
  expect(claim).toMatchObject({ seq: 2, events: [{ event_type: 'CLAIM' }], rows: [{ table: 'claims', key: 1 }] })
  expect(claim.author?.haid).toMatch(/\/amber-otter$/)
  expect((await project.run('heimdall-claim', ['claim', 'docs', '--task', 'T-1'], { env })).code).toBe(0)
  let last = await nextEntry(program)
  while (last.events?.some(({ event_type }) => event_type === 'CLAIM') !== true) last = await nextEntry(program)
  expect(last.author).toMatchObject({ session_id: 'build-7', run_id: 'run-42' })
})

test('it begins after the entry that is named, and refuses a number that was never made', async () => {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'cobalt-harbor'])
    expect((await project.run('bb', ['agent', 'register', '--name', name, '--role', 'ui'])).code).toBe(0)
  const program = watch(project, '--after', '1')
  expect(await program.nextLine(/REGISTER/)).toMatch(/^2 {2}\S+ {2}REGISTER {2}cobalt-harbor/)
  expect(await project.run('heimdall', ['watch', '--after', '99', '--json'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('FOLLOW_AHEAD'),
  })
})

test('sessions are told when they appear, change and end', async () => {
  const project = temporaryProject()
  const program = watch(project, '--json')
  const started = await project.run('hm', ['run', '--id', 'build', '--detach', '--', 'sh', '-c', 'read line'])
  expect(started.code).toBe(0)
  expect(JSON.parse(await program.nextLine(/"change":"appeared"/))).toMatchObject({ id: 'build', exit_code: null })
  expect((await project.run('hm', ['report', 'build', '--needs-input', 'a question'])).code).toBe(0)
  const waits = await program.nextLine(/"change":"state".*"value":true/)
  expect(JSON.parse(waits)).toMatchObject({ id: 'build', needs_input: { evidence: 'a question' } })
  expect((await project.run('hm', ['kill', 'build'])).code).toBe(0)
  expect(JSON.parse(await program.nextLine(/"change":"ended"/))).toMatchObject({
    id: 'build',
    exit_code: expect.any(Number),
  })
})

test.runIf(process.platform === 'linux').each([
  ['heimdall', 'watch', '--json'],
  ['heimdall', 'status', '--follow'],
  ['sub', 'tail'],
])('%s %s ends when whoever read its output has gone, though nothing more happens', async (bin, ...words) => {
  const project = temporaryProject()
  const script = `"$@" | { IFS= read -r line; echo "read: $line" >&2; exec <&-; }; echo "over: \${PIPESTATUS[0]}"`
  const program = startProgram(['bash', '-c', script, 'bash', ...launcher(bin), ...words], {
    cwd: project.root,
    env: project.env,
  })
  const { stdout, stderr } = await program.ended
  expect(stdout).toBe('over: 0\n')
  expect(stderr).toContain('read: ')
})
