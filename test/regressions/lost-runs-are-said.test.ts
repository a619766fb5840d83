// A run whose processes were all killed was open to every reader until somebody wrote its end: readers say that it is lost, and write nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isStillAlive, readStat } from '../../src/processes.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'
import { until } from '../support/wait.ts'

test('runs list and runs show say lost, doctor closes, and only then it has ended', async () => {
  const project = temporaryProject()
  const folder = join(project.home, '.local/state/heimdall/runs/ci-1')
  const wait = 'echo began; exec sleep 1000'
  const program = startProgram([...launcher('heimdall'), 'runs', 'exec', '--run', 'ci-1', '--', 'sh', '-c', wait], {
    cwd: project.root,
    env: project.env,
  })
  await program.nextLine(/began/)
  const stateOf = async (): Promise<unknown> => {
    const { stdout } = await project.run('heimdall', ['runs', 'list', '--json'])
    return (JSON.parse(stdout) as { data: { runs: { state: string; status: string }[] } }).data.runs.map(
      ({ state, status }) => [state, status],
    )
  }
  const all = (): unknown =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
      const stats = statSync(join(folder, name))
      return [name, stats.mtimeMs, stats.isFile() ? readFileSync(join(folder, name), 'hex') : '']
    })
  expect(await stateOf()).toEqual([['open', 'SUCCEEDED']])
  const { startTicks } = readStat(program.pid) ?? {}
  process.kill(program.pid, 'SIGKILL')
  await until('it to be gone', () => !isStillAlive({ pid: program.pid, startTicks, boot: undefined }))
  const before = all()
  expect(await stateOf()).toEqual([['lost', 'SUCCEEDED']])
  expect((await project.run('heimdall', ['runs', 'show', 'ci-1'])).stdout).toContain('lost: its processes are gone')
  expect((await project.run('heimdall', ['runs', 'list', '--open'])).stdout).toContain('No runs.')
  expect(all()).toEqual(before)
  await project.run('heimdall', ['doctor'])
  expect(await stateOf()).toEqual([['ended', 'FAILED']])
})
