// hm kill: several sessions at once, the grace period, and the process tree.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { HeimdallError } from '../../src/errors.ts'
import { Ending } from '../../src/process-ending.ts'
import { ProcessTree } from '../../src/process-tree.ts'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { processesOf, sh, start, type TestSession } from '../supervisor/support/session.ts'
import { eachSource } from '../support/process-sources.ts'
import { descendants, isRunning, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { isSoak, scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { hm } from './hm.ts'

// Several sessions, names and refusals.
test('all that are named end, with those before and behind one that is not there', async () => {
  const home = hm()
  for (const id of ['a', 'b', 'c']) await home.session(id, ['sleep', '1000'])
  const pids = ['a', 'c'].map((id) => readHolder(home.dir, id)?.supervisorPid ?? 0)
  const { code, stdout, stderr } = await home.run(['kill', 'a', 'nobody', 'c', 'a', '--wait'])
  expect(stdout.split('\n')).toEqual(['Session a ended with exit code 143', 'Session c ended with exit code 143', ''])
  expect(stderr).toBe('error: No session found: nobody\nhint: hm ls lists the sessions\n')
  expect(code).toBe((await home.run(['kill', 'nobody'])).code)
  expect(pids.filter(isRunning)).toEqual([])
  expect(await home.json(['ls'])).toMatchObject({ sessions: [{ id: 'b' }] })
})

test('--json has one object with what became of each, in the order in which they were named', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  const { code, stdout, stderr } = await home.run(['kill', '--json', '--wait', 'nobody', 'a'])
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    command: 'hm kill',
    data: {
      sessions: [
        {
          id: 'nobody',
          ended: false,
          exit_code: null,
          error: { code: 'SESSION_NOT_FOUND', message: 'No session found: nobody', hint: 'hm ls lists the sessions' },
        },
        { id: 'a', ended: true, exit_code: 143, error: null },
      ],
    },
    error: null,
  })
  expect([code !== 0, stderr]).toEqual([true, ''])
})

test('one id is answered as ever, also when it is named twice', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  expect(await home.json(['kill', 'a', 'a', '--wait'])).toEqual({ id: 'a', ended: true, exit_code: 143 })
})

test('a word that is no id ends nothing', async () => {
  const home = hm()
  await home.session('a', ['sleep', '1000'])
  const { code, stderr } = await home.run(['kill', 'a', '../b'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('"../b" is not a valid id') as string])
  expect(await home.json(['ls'])).toMatchObject({ sessions: [{ id: 'a' }] })
  expect(readExitRecord(home.dir, 'a')).toBeUndefined()
})

test('the time of --timeout is for all of them, and says of each whether it was enough', async () => {
  const home = hm()
  await home.session('slow', ['sh', '-c', 'trap "" TERM HUP; >ready; while :; do sleep 1; done'])
  await until('signals are ignored', () => existsSync(join(home.home, 'ready')))
  await home.session('quick', ['sleep', '1000'])
  expect((await home.json(['kill', 'quick', '--wait', '--timeout', '60s']))['ended']).toBe(true)
  const { code, stdout } = await home.run(['kill', 'slow', 'quick', '--json', '--wait', '--timeout', '200ms'])
  const { data } = JSON.parse(stdout) as { data: { sessions: { id: string; error: { code: string } | null }[] } }
  expect(data.sessions.map(({ id, error }) => [id, error?.code])).toEqual([
    ['slow', 'SESSION_WAIT_TIMEOUT'],
    ['quick', undefined],
  ])
  expect(code).toBe(6)
})

// SIGTERM, the whole grace period, then SIGKILL: a program that needs two seconds to save can save.
/** Takes its time on SIGTERM and writes the file at the end of it; any other signal, or a second one, would end it before. */
function saver(file: string, takesMs: number): string {
  const path = join(temporaryFolder(), 'saver.mjs')
  writeFileSync(
    path,
    `import { writeFileSync } from 'node:fs'
     process.once('SIGTERM', () => setTimeout(() => { writeFileSync(${JSON.stringify(file)}, 'saved'); process.exit(7) }, ${takesMs}))
     setInterval(() => {}, 1000)
     console.log('ready')`,
  )
  return `'${process.execPath}' '${path}'`
}

async function ready(session: TestSession): Promise<() => Promise<number>> {
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('ready')
  return async () => {
    client.send('kill')
    return await client.exit()
  }
}

/** How the program that saves is run; the code that its session ends with. */
const WAYS: readonly { readonly name: string; readonly script: (run: string) => string; readonly code: number }[] = [
  { name: 'as the child', script: (run) => `exec ${run}`, code: 7 },
  { name: 'by a shell that has nothing to save', script: (run) => `${run}; echo never`, code: 143 },
  { name: 'by a shell with a handler of its own', script: (run) => `trap 'wait; exit 3' TERM; ${run} & wait`, code: 3 },
  { name: 'in the background', script: (run) => `${run} & exec sleep 1000`, code: 143 },
  { name: 'in a session of its own', script: (run) => `setsid ${run} & exec sleep 1000`, code: 143 },
]

eachSource((source) => {
  const ways = source === 'proc' ? WAYS : WAYS.slice(1, 3)
  test.each(ways)('seed 001 KILL: SIGTERM and the whole grace time: $name', async ({ script, code }) => {
    const file = join(temporaryFolder(), 'saved')
    const session = await start(sh(script(saver(file, 700))), { graceMs: 60_000 })
    const end = await ready(session)
    expect(await end()).toBe(code)
    await session.gone()
    expect(readFileSync(file, 'utf8')).toBe('saved')
    expect(processesOf(session)).toEqual([])
    expect(readExitRecord(session.dir, 't')).toMatchObject({ exit_code: code, reason: 'kill' })
  })
})

/** Long past the half second; the rest of the default grace time is for a busy machine. */
const SAVES_MS = scaled(1_000, 2_000)

test(`${scaled(4, 200)} shutdowns of ${SAVES_MS} ms each keep their file`, async () => {
  for (let done = 0; done < scaled(4, 200); done += 4)
    await Promise.all(
      WAYS.slice(0, 4).map(async ({ script, code }) => {
        const file = join(temporaryFolder(), 'saved')
        const session = await start(sh(script(saver(file, SAVES_MS))))
        const end = await ready(session)
        expect(await end()).toBe(code)
        await session.gone()
        expect([existsSync(file), processesOf(session)]).toEqual([true, []])
      }),
    )
})

test('what a program starts in order to end well is left to it', async () => {
  const file = join(temporaryFolder(), 'saved')
  const handler = `trap 'sh -c "trap : TERM; sleep 1; echo saved > ${file}"; exit 5' TERM`
  const session = await start(sh(`${handler}; echo ready; while :; do sleep 0.1; done`), { graceMs: 60_000 })
  expect(await (await ready(session))()).toBe(5)
  expect(readFileSync(file, 'utf8')).toBe('saved\n')
})

test('an interactive shell goes by a hang-up, after its jobs had their time', async () => {
  const file = join(temporaryFolder(), 'saved')
  const session = await start(['bash', '--norc', '--noprofile', '-i'], { graceMs: 60_000 })
  const client = await session.connect()
  client.subscribe()
  client.type(`${saver(file, 700)}\n`)
  await client.waitForOutput('ready')
  client.send('kill')
  expect(await client.exit()).toBe(129)
  expect(readFileSync(file, 'utf8')).toBe('saved')
})

test('a shell that catches SIGTERM only to pass over it goes by a hang-up', async () => {
  // Every shell can be made such a one; some are it from the start (mksh).
  const session = await start(['sh', '-i'], { graceMs: 60_000 })
  const client = await session.connect()
  client.subscribe()
  client.type("trap : TERM; echo rea''dy\n")
  await client.waitForOutput('ready')
  client.send('kill')
  expect(await client.exit()).toBe(129)
})

test('SIGHUP reaches those alone who ignore SIGTERM; SIGKILL comes at the end of the grace time', async () => {
  const heard = join(temporaryFolder(), 'heard')
  const deaf = `trap '' TERM; trap 'echo deaf >> ${heard}' HUP; touch ${heard}; while :; do sleep 0.05; done`
  const listening = `trap 'echo heard hup >> ${heard}' HUP; trap 'echo term >> ${heard}' TERM; touch ${heard}.too; while :; do sleep 0.05; done`
  const graceMs = isSoak ? 5_000 : 2_000
  const session = await start(sh(`sh -c "${deaf}" & sh -c "${listening}" & echo ready; exec sleep 1000`), { graceMs })
  const end = await ready(session)
  await until('both traps', () => [heard, `${heard}.too`].every((path) => existsSync(path)))
  const members = processesOf(session)
  const startedMs = performance.now()
  await end()
  await session.gone()
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(graceMs)
  expect(readFileSync(heard, 'utf8').split('\n').sort()).toEqual(['', 'deaf', 'term'])
  for (const pid of members) await waitForDeath(pid)
  expect(members.filter(isRunning)).toEqual([])
})

// A session that cannot list its processes still terminates its child.
/** As where `ps` fails. */
class Unseen extends ProcessTree {
  override members(): never {
    throw new HeimdallError('PROCESSES_UNREADABLE', 'the system does not say which processes run')
  }
}

test('whoever can be seen or not, the group is asked to end', async () => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  const tree = new Unseen({ child: undefined, mark: undefined })
  const ending = new Ending({ tree, child: child.pid, wholeTree: true, graceMs: 600_000, clock: systemClock })
  const failures: unknown[] = []
  ending.begin('a test', (error) => failures.push(error))
  expect(await ended).toEqual([null, 'SIGTERM'])
  ending.childEnded()
  expect(failures).toEqual([])
})

// `hm kill --wait` returns when the whole process tree has ended.
/** The child ends on SIGTERM; what it started in the background ignores everything up to SIGKILL. */
const LEAVES_ONE = 'trap "" TERM HUP; sleep 1000 & trap - TERM HUP; echo ready; exec sleep 1001'

async function treeOf(session: TestSession): Promise<number[]> {
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('ready')
  client.close()
  const tree = descendants(session.supervisor_pid)
  expect(tree.length).toBeGreaterThanOrEqual(2)
  return tree
}

test('kill --wait returns when the supervisor and everything below it is gone', async () => {
  const session = await start(sh(LEAVES_ONE), { graceMs: 500 })
  const tree = await treeOf(session)
  const { code, stdout } = await hm().run(['kill', 't', '--wait', '--socket-dir', session.dir])
  expect([session.supervisor_pid, ...tree].filter(isRunning)).toEqual([])
  expect([code, stdout]).toEqual([0, 'Session t ended with exit code 143\n'])
})

test('kill --wait returns soon after the command has ended', async () => {
  const home = hm()
  let soonestMs = Number.POSITIVE_INFINITY
  // The soonest of a few: on a busy machine one of them may wait for the processor.
  for (let tries = 0; tries < 5 && soonestMs >= 900; tries += 1) {
    await home.session('s', ['sleep', '1000'])
    await home.json(['kill', 's', '--wait'])
    const { ended_at: ended } = readExitRecord(home.dir, 's') ?? { ended_at: '' }
    soonestMs = Math.min(soonestMs, Date.now() - Date.parse(ended))
  }
  expect(soonestMs).toBeLessThan(900)
})

test('kill --wait gives up at its timeout while part of the tree is left', async () => {
  const session = await start(sh(LEAVES_ONE), { graceMs: 600_000 })
  const tree = await treeOf(session)
  const { code, stderr } = await hm().run(['kill', 't', '--wait', '--timeout', '300ms', '--socket-dir', session.dir])
  expect([code, stderr]).toEqual([6, expect.stringContaining('did not end in time') as string])
  expect(tree.some(isRunning)).toBe(true)
})
