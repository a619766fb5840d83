// Many real processes on one store: nothing lost, never two holders, no acknowledged write gone after kill -9, one order explains all answers.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFileIfThere } from '../../src/storage/atomic-file.ts'
import { type LogLine, readLog } from '../../src/storage/log-reader.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { hasArrived, releaseTogether } from '../support/barrier.ts'
import { killLoop } from '../support/kill-loop.ts'
import { checkLinearizability, type Operation } from '../support/linearizability.ts'
import { fixture, type Program, startProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { withSeed } from '../support/seed.ts'

test('many processes append and update at once, nothing is lost', async () => {
  const folder = temporaryFolder()
  const [processes, lines, updates] = [scaled(20, 200), 10, 3]
  const programs = Array.from({ length: processes }, (_, writer) =>
    startProgram([...fixture('storage-hammer'), folder, String(writer), String(lines), String(updates)]),
  )
  await releaseTogether(programs)
  const endings = await Promise.all(programs.map(({ ended }) => ended))
  expect(endings.filter(({ stdout }) => !stdout.endsWith('done\n')).map(({ stderr }) => stderr)).toEqual([])

  const read = [...readLog(join(folder, 'log'))]
  expect(read.filter(({ isTorn }) => isTorn)).toEqual([])
  const seen = read.map(({ text }) => JSON.parse(text) as { writer: string; n: number })
  for (let writer = 0; writer < processes; writer += 1) {
    // Each writer's own lines stand in its own order.
    const own = seen.filter((line) => line.writer === String(writer)).map(({ n }) => n)
    expect(own).toEqual(Array.from({ length: lines }, (_, n) => n))
  }
  const counts = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as Record<string, number>
  expect(Object.values(counts)).toEqual(Array.from({ length: processes }, () => updates))
  const db = openDatabase(join(folder, 'store.db'), { migrations: [''], readOnly: true })
  expect(db.prepare('SELECT n FROM counts').get()).toEqual({ n: processes * updates })
  db.close()
})

test('kill -9 at any moment loses no acknowledged write and leaves every file readable', async () => {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder, name)
  const logged = (): number[] =>
    wholeLines([...readLog(path('log'))]).map((line) => (JSON.parse(line) as { n: number }).n)
  const promised = { log: new Set<number>(), db: new Set<number>(), state: -1 }
  let start = 0
  await withSeed(async (random) => {
    const checked = await killLoop({
      cycles: scaled(12, 250),
      random,
      lifeMsMax: 40,
      start: () => startProgram([...fixture('storage-writer'), folder, String(start)]),
      check(acknowledged) {
        for (const [store, n] of acknowledged.map((what) => what.split(' '))) {
          if (store === 'state') promised.state = Number(n)
          else promised[store as 'log' | 'db'].add(Number(n))
        }
        expect(new Set(logged())).toEqual(
          expect.toSatisfy((seen: Set<number>) => [...promised.log].every((n) => seen.has(n))),
        )
        const state = JSON.parse(readFileIfThere(path('state.json'))?.toString() ?? '{"n":-1}') as { n: number }
        // The writer goes on to the state only when the log has acknowledged the number.
        expect(state.n).toBeGreaterThanOrEqual(promised.state)
        expect(state.n).toBeLessThanOrEqual(Math.max(...promised.log))
        promised.state = state.n
        const db = openDatabase(path('store.db'), { migrations: [''] })
        expect(db.problems()).toEqual([])
        const rows = new Set((db.prepare('SELECT n FROM numbers').all() as { n: number }[]).map(({ n }) => n))
        db.close()
        expect([...promised.db].filter((n) => !rows.has(n))).toEqual([])
        start = Math.max(...logged(), ...rows, state.n) + 1
      },
    })
    expect(checked).toBeGreaterThanOrEqual(scaled(12, 250))
  })
})

/** Lines that were written whole; torn ones are the beginning of an unacknowledged one. */
function wholeLines(lines: readonly LogLine[]): string[] {
  return lines.flatMap(({ text, isTorn }) => (isTorn || !text.endsWith('"}') ? [] : [text]))
}

test('a lock has never two holders, also when holders die', async () => {
  const folder = temporaryFolder()
  const rounds = scaled(80, 2_000)
  writeFileSync(join(folder, 'journal'), '')
  writeFileSync(join(folder, 'count'), '0')
  await withSeed(async (random) => {
    const start = (): Program =>
      startProgram([...fixture('storage-lock-racer'), folder, String(Math.floor(random() * 2 ** 32))])
    let racers = Array.from({ length: 4 }, start)
    for (let round = 0; round < rounds; round += 1) {
      racers = await Promise.all(
        racers.map(async (racer) => ((await hasArrived(racer)) ? racer : await replaced(start))),
      )
      for (const racer of racers) racer.send('go')
    }
    for (const racer of racers) racer.child.stdin?.end()
    await Promise.all(racers.map(({ ended }) => ended))
  })
  const journal = readFileSync(join(folder, 'journal'), 'utf8').trim().split('\n')
  let inside: string | undefined
  const deaths = { before: 0, after: 0 }
  let counted = 0
  let hasCounted = false
  for (const [what = '', pid = ''] of journal.map((line) => line.split(' '))) {
    if (what === 'enters') {
      expect(inside, `process ${pid} entered`).toBeUndefined()
      inside = pid
      hasCounted = false
      continue
    }
    expect(pid, `${what} of a process that is not inside`).toBe(inside)
    if (what === 'counts') {
      counted += 1
      hasCounted = true
      continue
    }
    if (what === 'dies') deaths[hasCounted ? 'after' : 'before'] += 1
    inside = undefined
  }
  expect(Number(readFileSync(join(folder, 'count'), 'utf8'))).toBe(counted)
  expect(Math.min(deaths.before, deaths.after)).toBeGreaterThan(0)
  expect(counted + deaths.before).toBe(rounds * 4)
})

/** A new racer at the barrier, in place of one that died. */
async function replaced(start: () => Program): Promise<Program> {
  const racer = start()
  expect(await hasArrived(racer)).toBe(true)
  return racer
}

test('updates of one file by several processes are linearizable', async () => {
  const path = join(temporaryFolder(), 'register')
  await withSeed(async (random) => {
    const programs = Array.from({ length: 5 }, () =>
      startProgram([
        ...fixture('storage-register'),
        path,
        String(Math.floor(random() * 2 ** 32)),
        String(scaled(30, 600)),
      ]),
    )
    await releaseTogether(programs)
    // One of them dies in the middle of an operation whose outcome nobody then knows.
    await programs[0]?.waitForLine(/"id":20,.*"call"/)
    programs[0]?.kill('SIGKILL')
    const histories = await Promise.all(programs.map(async ({ ended }) => operationsOf((await ended).stdout)))
    const verdict = checkLinearizability(
      {
        initial: 0,
        apply(state: number, call: RegisterCall) {
          if (call.do === 'read') return { state, result: state }
          if (call.do === 'write') return { state: call.value, result: null }
          return state === call.from ? { state: call.to, result: true } : { state, result: false }
        },
      },
      histories.flat(),
    )
    expect(verdict).toEqual({ isLinearizable: true })
    expect(histories.flat().length).toBeGreaterThan(scaled(120, 2_400))
  })
})

type RegisterCall = { do: 'read' } | { do: 'write'; value: number } | { do: 'swap'; from: number; to: number }
type RegisterResult = number | boolean | null

function operationsOf(stdout: string): Operation<RegisterCall, RegisterResult>[] {
  const operations = new Map<number, Operation<RegisterCall, RegisterResult>>()
  for (const line of stdout.split('\n').slice(0, -1)) {
    if (!line.startsWith('{')) continue
    const event = JSON.parse(line) as { id: number; at: string; call?: RegisterCall; result?: RegisterResult }
    const at = Number(BigInt(event.at) % 10n ** 15n)
    const begun = operations.get(event.id)
    if (event.call !== undefined) operations.set(event.id, { call: event.call, calledAt: at, returnedAt: at })
    else if (begun !== undefined && event.result !== undefined)
      operations.set(event.id, { ...begun, result: event.result, returnedAt: at })
  }
  return [...operations.values()]
}
