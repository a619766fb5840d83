// A run with an owner (`heimdall run`): it opens and closes the run, and its death leaves nothing open for good.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { eachSource } from '../support/process-sources.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import {
  checkBooks,
  eventsOfRun,
  type Json,
  ofType,
  runsDir,
  type ShimClient,
  startShim,
} from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const RUN = 'owned'

async function startOwner(home: string, id = 'owner-1'): Promise<Program> {
  const owner = startProgram([...fixture('run-owner'), runsDir(home), RUN, id])
  await owner.waitForLine('joined')
  return owner
}

/** Takes leave as the owner does; another process may have the record at that moment. */
async function leave(owner: Program, status = 'SUCCEEDED'): Promise<string> {
  for (;;) {
    owner.send(status)
    const line = await owner.nextLine(/^(left|closed|busy)$/)
    if (line !== 'busy') {
      await owner.ended
      return line
    }
  }
}

const startMember = (home: string, name: string, ownProcess = false): ShimClient =>
  startShim({ home, name, ownProcess, env: { SUB_RUN_ID: RUN, SUB_AGENT_ID: 'amber-otter' }, bin: 'heimdall' })

const doctor = (home: string): Promise<unknown> => runLauncher('heimdall', ['doctor', '--fix'], { env: { HOME: home } })

const runEnd = (events: readonly Json[]): Json => ofType(events, 'run_end')[0]?.['run'] as Json

eachSource(() => {
  test('the owner opens the run before any shim, and closes it after the last', async () => {
    const home = temporaryFolder()
    const owner = await startOwner(home)
    expect(eventsOfRun(home, RUN)).toMatchObject([{ type: 'run_start', source: { shim_id: 'owner-1' } }])
    for (const name of ['a', 'b']) {
      const shim = startMember(home, name)
      await shim.call('echo')
      await shim.end()
      expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
    }
    expect(await leave(owner, 'FAILED')).toBe('closed')
    const events = eventsOfRun(home, RUN)
    expect(checkBooks(events)).toEqual([])
    expect(runEnd(events)).toMatchObject({ status: 'FAILED', summary: { calls_total: 2 } })
    expect(readdirSync(join(runsDir(home), '.open'))).toEqual([])
  })

  test('a shim that came first has opened the run; the owner opens it no second time', async () => {
    const home = temporaryFolder()
    const shim = startMember(home, 'early')
    await shim.call('echo')
    const owner = await startOwner(home)
    await shim.end()
    expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
    expect(await leave(owner)).toBe('closed')
    expect(checkBooks(eventsOfRun(home, RUN))).toEqual([])
  })

  test('a shim that outlives the owner goes on in the same run and closes it', async () => {
    const home = temporaryFolder()
    const owner = await startOwner(home)
    const shims = [startMember(home, 'a'), startMember(home, 'b')]
    await Promise.all(shims.map((shim) => shim.call('echo')))
    expect(await leave(owner)).toBe('left')
    for (const shim of shims) {
      await shim.call('echo', { after: 'the owner' })
      expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
      await shim.end()
    }
    const events = eventsOfRun(home, RUN)
    expect(checkBooks(events)).toEqual([])
    expect(runEnd(events)).toMatchObject({ status: 'SUCCEEDED', summary: { calls_total: 4 } })
  })

  test('an owner killed with SIGKILL: the last shim closes the run as FAILED', async () => {
    const home = temporaryFolder()
    const owner = await startOwner(home)
    const shim = startMember(home, 'a')
    await shim.call('echo')
    owner.kill('SIGKILL')
    await owner.ended
    expect(await shim.call('echo')).toHaveProperty('result')
    await shim.end()
    const events = eventsOfRun(home, RUN)
    expect(checkBooks(events)).toEqual([])
    expect(runEnd(events)).toMatchObject({ status: 'FAILED', summary: { calls_total: 2 } })
  })

  test('owner and shim killed together: doctor --fix ends the open call and closes the run, once', async () => {
    const home = temporaryFolder()
    const owner = await startOwner(home)
    const shim = startMember(home, 'a', true)
    await shim.call('echo')
    shim.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'never' } })
    await until('the call to be recorded', () => ofType(eventsOfRun(home, RUN), 'tool_call_decision').length === 2)
    for (const program of [owner, shim.program]) {
      program.kill('SIGKILL')
      await program.ended
    }
    expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
    // Several at once; one of them is enough.
    await Promise.all([doctor(home), doctor(home), doctor(home)])
    const events = eventsOfRun(home, RUN)
    expect(checkBooks(events)).toEqual([])
    expect(runEnd(events)).toMatchObject({ status: 'FAILED', summary: { calls_total: 2, errors_total: 1 } })
    expect(ofType(events, 'tool_call_end')[1]).toMatchObject({ status: 'ERROR', error: { class: 'transport' } })
    expect(existsSync(join(runsDir(home), '.open', RUN))).toBe(false)
  })

  test('doctor --fix leaves a run alone whose owner lives, whatever else has died', async () => {
    const home = temporaryFolder()
    const owner = await startOwner(home)
    const shim = startMember(home, 'a', true)
    await shim.call('echo')
    shim.program.kill('SIGKILL')
    await shim.program.ended
    await doctor(home)
    expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
    expect(await leave(owner)).toBe('closed')
    const events = eventsOfRun(home, RUN)
    expect(checkBooks(events)).toEqual([])
    expect(runEnd(events)).toMatchObject({ status: 'FAILED' })
  })

  test('a second owner under the same id does not make the first one leave', async () => {
    const home = temporaryFolder()
    const first = await startOwner(home)
    const second = await startOwner(home, 'owner-2')
    expect(await leave(second)).toBe('left')
    await doctor(home)
    expect(ofType(eventsOfRun(home, RUN), 'run_end')).toHaveLength(0)
    expect(await leave(first)).toBe('closed')
    expect(checkBooks(eventsOfRun(home, RUN))).toEqual([])
  })

  test('an owner that comes to a run that has ended goes on with its next segment', async () => {
    const home = temporaryFolder()
    await leave(await startOwner(home))
    await leave(await startOwner(home, 'owner-2'))
    const ends = eventsOfRun(home, RUN).map((event) => [event['type'], event['run'].segment] as [string, number])
    expect(ends).toEqual([
      ['run_start', 1],
      ['run_end', 1],
      ['run_start', 2],
      ['run_end', 2],
    ])
  })
})
