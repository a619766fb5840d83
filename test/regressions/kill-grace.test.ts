// KILL followed SIGTERM with SIGHUP after half a second, to everybody: a program that takes two seconds to save saved nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord } from '../../src/sessions/session-files.ts'
import { eachSource } from '../support/process-sources.ts'
import { isRunning, waitForDeath } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { isSoak, scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { processesOf, sh, start, type TestSession } from '../supervisor/support/session.ts'

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
