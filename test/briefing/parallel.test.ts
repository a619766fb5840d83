// Many writers at once, and writers that are killed: nothing acknowledged is lost, and every file can be read.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listFacts } from '../../src/briefing/blackboard.ts'
import { listCapsules, readClosure } from '../../src/briefing/capsules.ts'
import { listSymbols } from '../../src/briefing/symbols.ts'
import { readLedger } from '../../src/briefing/token-ledger.ts'
import { fixture, launcher, startProgram } from '../support/programs.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { temporaryDesk } from './desk.ts'
import { temporaryIsland } from './island.ts'

/** Runs a launcher without waiting for the one before. */
function start(
  bin: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<number | null> {
  const [node, script] = launcher(bin)
  const child = spawn(node, [script, ...args], { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

test('processes that set symbols and facts at the same time all succeed, and all of them are there', async () => {
  const { root, planning, path } = temporaryDesk()
  const count = scaled(15, 200)
  const env = { HEIMDALL_PLANNING_DIR: path('') }
  const codes = await Promise.all(
    Array.from({ length: count }, (_, i) => [
      start('heimdall-resolve', ['set', `F${i}`, `path/${i}`], root, env),
      start('heimdall-blackboard', ['set', `k${i}`, String(i)], root, env),
    ]).flat(),
  )
  expect(codes.filter((code) => code !== 0)).toEqual([])
  const numbers = Array.from({ length: count }, (_, i) => i)
  expect(Object.fromEntries(listSymbols(planning))).toEqual(
    Object.fromEntries(numbers.map((i) => [`F${i}`, `path/${i}`])),
  )
  expect(Object.fromEntries(listFacts(planning).map(({ key, value }) => [key, value]))).toEqual(
    Object.fromEntries(numbers.map((i) => [`k${i}`, String(i)])),
  )
  const log = readFileSync(path('protocol.log'), 'utf8').trimEnd().split('\n')
  expect(log).toHaveLength(2 * count)
  expect(log.every((line) => line.split('\t').length === 4)).toBe(true)
})

test('writers killed at random moments lose nothing that was acknowledged, and leave nothing that cannot be read', async () => {
  const { root, planning, path, notes } = temporaryDesk()
  const acknowledged = { symbol: new Set<string>(), fact: new Set<string>(), tokens: new Set<string>() }
  const rounds = scaled(10, 250)
  for (let round = 0; round < rounds; round += 1) {
    const writer = startProgram([...fixture('briefing-writer'), root, `w${round}`])
    // After some acknowledgements, the first at least: a kill during start-up tests nothing.
    const lines = 1 + randomInt(12)
    await until(`${lines} acknowledgements`, () => writer.stdout().split('\n').length > lines, {
      context: writer.stderr,
    })
    writer.kill('SIGKILL')
    const { stdout } = await writer.ended
    for (const line of stdout.split('\n').slice(0, -1)) {
      const [kind, id] = line.split(' ')
      acknowledged[kind as keyof typeof acknowledged].add(id ?? '')
    }
    const symbols = listSymbols(planning)
    const facts = new Map(listFacts(planning).map(({ key, value }) => [key, value]))
    expect([...acknowledged.symbol].filter((id) => symbols.get(id) !== `value of ${id}`)).toEqual([])
    expect([...acknowledged.fact].filter((id) => facts.get(id) !== `fact of ${id}`)).toEqual([])
  }
  const logged = new Set(readLedger(planning).rows.map(({ msg_id }) => msg_id))
  expect([...acknowledged.tokens].filter((id) => !logged.has(id))).toEqual([])
  expect(acknowledged.symbol.size).toBeGreaterThanOrEqual(rounds)
  expect(readClosure(planning, listCapsules(planning)).length).toBe(listCapsules(planning).length)
  expect(notes).toEqual([])
  expect(readdirSync(path('protocol')).filter((name) => name.includes('corrupt'))).toEqual([])
})

test('a folder that may not be entered is one clear line and exit 3, and its content is untouched', async () => {
  const island = temporaryIsland()
  await island.run('heimdall-resolve', ['set', 'F12', 'a.ts'])
  const before = island.read('protocol/symbols.json')
  chmodSync(island.root, 0o755)
  chmodSync(island.path(''), 0o777)
  island.write('protocol.log', '')
  chmodSync(island.path('protocol.log'), 0o666)
  chmodSync(island.path('protocol'), 0o000)
  const [node, script] = launcher('heimdall-brief')
  const args = ['build', '--task', '1', '--spec', 'x', '--symbols', 'F12']
  // Root may enter any folder, so root steps down first.
  const who = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawn(node, [script, ...args], {
    cwd: island.root,
    env: { PATH: process.env['PATH'], HEIMDALL_PLANNING_DIR: island.path('') },
    ...who,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const code = await new Promise((resolve) => {
    child.once('close', resolve)
  })
  chmodSync(island.path('protocol'), 0o700)
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^error: cannot .*protocol.*\n(hint: .*\n)?$/),
  })
  expect(island.read('protocol/symbols.json')).toBe(before)
})
