// An agent wrote another's record by a variable or a flag, painted its failed run over, ended it with a policy of its own, and removed all records; with the commands of this program.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launcher, startProgram } from '../support/programs.ts'
import { type TemporaryProject, temporaryProject } from '../support/project.ts'

/** What lines of a script come to, run by an agent in its session: exit codes, in order. */
async function byAgent(
  project: TemporaryProject,
  lines: readonly string[],
): Promise<{ codes: number[]; said: string }> {
  const script = join(project.home, 'agent.sh')
  const heimdall = launcher('heimdall')
    .map((word) => `'${word}'`)
    .join(' ')
  const text = lines.map((line) => `${line.replace('%h', heimdall)} </dev/null; echo "code $?"`)
  writeFileSync(script, `${text.join('\n')}\n`)
  const { stdout } = await project.run('heimdall', ['run', '--agent', 'evil-otter', '--', 'bash', script])
  return { codes: [...stdout.matchAll(/^code (\d+)/gm)].map(([, code]) => Number(code)), said: stdout }
}

const runsIn = (project: TemporaryProject): string => join(project.home, '.local/state/heimdall/runs')

async function listed(project: TemporaryProject): Promise<unknown[]> {
  const { stdout } = await project.run('heimdall', ['runs', 'list', '--json'])
  const { data } = JSON.parse(stdout) as { data: { runs: { agent_id: string; status: string }[] } }
  return data.runs.map((run) => `${run.agent_id} ${run.status}`).sort()
}

test('a run that is over stays as it was: neither another nor its name goes on with it, and nobody removes it', async () => {
  const project = temporaryProject()
  await project.run('heimdall', ['run', '--agent', 'victim-otter', '--', 'false'])
  const victim = readdirSync(runsIn(project)).find((name) => !name.startsWith('.')) ?? ''
  const record = (): string => readFileSync(join(runsIn(project), victim, 'events.jsonl'), 'utf8')
  const before = record()
  const { codes, said } = await byAgent(project, [
    `%h runs exec --run ${victim} -- true`,
    `%h runs exec --run ${victim} --agent victim-otter -- true`,
    '%h runs exec --agent victim-otter -- true',
    `SUB_RUN_ID=${victim} %h shim --server-name s -- true`,
    `env -u HEIMDALL_SESSION_ID -u HEIMDALL_SESSION_KEY -u HEIMDALL_SECRET SUB_RUN_ID=${victim} SUB_AGENT_ID=victim-otter %h shim --server-name s -- true`,
    '%h runs prune --older-than 0s',
    '%h fleet import /dev/null',
    '%h fleet leave',
    '%h fleet invite < /dev/null',
    '%h fleet expel box',
    '%h fleet delete --yes < /dev/null',
    // What is its own stays its own.
    '%h runs exec --agent evil-otter -- true',
    '%h runs prune --dry-run',
  ])
  expect(codes, said).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0])
  expect(said).toContain('is of "victim-otter", and session evil-otter runs this')
  expect(record()).toBe(before)
  expect(await listed(project)).toEqual(['evil-otter SUCCEEDED', 'evil-otter SUCCEEDED', 'victim-otter FAILED'])
})

test('a run that goes on has one owner, and another agent’s policy does not end it', async () => {
  const project = temporaryProject()
  const wait = 'echo began; exec sleep 1000'
  const program = startProgram([...launcher('heimdall'), 'runs', 'exec', '--run', 'ci-1', '--', 'sh', '-c', wait], {
    cwd: project.root,
    env: project.env,
  })
  await program.nextLine(/began/)
  const second = await project.run('heimdall', ['runs', 'exec', '--run', 'ci-1', '--', 'false'])
  expect(second.code, second.stderr).toBe(5)
  expect(second.stderr).toContain('run "ci-1" goes on already: process')
  const { codes, said } = await byAgent(project, [
    '%h runs exec --run ci-1 -- true',
    '%h runs exec --run $SUB_RUN_ID -- false',
    'SUB_RUN_ID=ci-1 %h shim --server-name s -- true',
  ])
  expect(codes, said).toEqual([4, 5, 4])
  expect(await listed(project)).toEqual(['evil-otter SUCCEEDED', 'unknown SUCCEEDED'])
  program.child.kill('SIGTERM')
  await program.ended
  // A script without an agent above it may go on with a run that is over.
  expect(await project.run('heimdall', ['runs', 'exec', '--run', 'ci-1', '--', 'true'])).toMatchObject({ code: 0 })
})
