// The test kit's own proof: programs, waiting and the temporary project do what the other tests rely on.
import { EventEmitter } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  descendants,
  fixture,
  isRunning,
  launcher,
  runProgram,
  startProgram,
  waitForDeath,
  waitForTreeDeath,
} from './programs.ts'
import { temporaryFolder, temporaryProject } from './project.ts'
import { until, waitForEvent, waitForFile, waitForNoFile, waitForSocket } from './wait.ts'

const node = (source: string): [string, string, string] => [process.execPath, '-e', source]

test('a program runs to its end with its output, exit code and stdin', async () => {
  const ending = await runProgram(
    node('process.stdin.on("data", d => process.stdout.write(d)).on("end", () => process.exit(7))'),
    { stdin: 'hello\n' },
  )
  expect(ending).toEqual({ code: 7, signal: null, stdout: 'hello\n', stderr: '' })
})

test('a program sees only the environment it is given', async () => {
  const { stdout } = await runProgram(node('console.log(Object.keys(process.env).sort().join())'), { env: { A: '1' } })
  expect(stdout.trim().split(',')).toEqual(['A', 'LANG', 'PATH'])
})

test('waiting for a line gives the line, and fails at once when the program ends without it', async () => {
  const program = startProgram(node('console.log("one"); console.log("two 2"); process.stdin.resume()'))
  expect(await program.waitForLine(/^two/)).toBe('two 2')
  program.kill('SIGKILL')
  expect((await program.ended).signal).toBe('SIGKILL')
  await expect(program.waitForLine('three')).rejects.toThrow(/ended without the line three[^]*two 2/)
})

test('a killed tree is seen to be dead, and a survivor is seen to live', async () => {
  const program = startProgram([
    'sh',
    '-c',
    // The second sleep leaves the group by setsid, as an escaped grandchild does.
    'sleep 1000 & setsid sleep 1000 & echo started; wait',
  ])
  await program.waitForLine('started')
  // Both are `sleep` by now: before that, the second is still in the group.
  const tree = await until('two children', () => {
    const found = descendants(program.pid)
    return found.length === 2 && found.every((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n') && found
  })
  process.kill(-program.pid, 'SIGKILL')
  await waitForDeath(program.pid)
  const survivors = await until('one survivor', () => {
    const alive = tree.filter(isRunning)
    return alive.length === 1 && alive
  })
  for (const pid of survivors) process.kill(pid, 'SIGKILL')
  await waitForTreeDeath(program.pid, tree)
})

test('waiting for files and sockets resolves when they come and when they go', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'file')
  const text = waitForFile(path, (content) => content.endsWith('!'))
  writeFileSync(path, 'not yet')
  writeFileSync(path, 'now!')
  expect(await text).toBe('now!')
  const socket = join(folder, 's')
  const server = createServer((peer) => peer.destroy()).listen(socket)
  await waitForSocket(socket)
  server.close()
  await waitForNoFile(socket)
})

test('waiting gives up at its deadline and says for what', async () => {
  await expect(until('godot', () => false, { waitMs: 20, context: () => 'no sign' })).rejects.toThrow(
    /20 ms for godot\nno sign/,
  )
  const emitter = new EventEmitter()
  await expect(waitForEvent(emitter, 'arrival', { waitMs: 20 })).rejects.toThrow(/event arrival/)
  const arrival = waitForEvent(emitter, 'arrival')
  emitter.emit('arrival', 'late')
  expect(await arrival).toEqual(['late'])
})

test('a temporary project has git, a home of its own and the launchers', async () => {
  const project = temporaryProject()
  project.write('src/a.txt', 'a')
  project.git('add', '-A')
  project.git('commit', '-qm', 'add a')
  expect(project.git('log', '--format=%an %s').split('\n')).toEqual(['Ana add a', 'Ana start', ''])
  expect(project.read('src/a.txt')).toBe('a')
  expect(project.home.startsWith(project.root)).toBe(false)
  const { code, stdout } = await project.run('heimdall', ['--version'])
  expect({ code, isVersion: /^\d+\.\d+\.\d+\n$/.test(stdout) }).toEqual({ code: 0, isVersion: true })
  expect(existsSync(temporaryProject({ git: false }).path('.git'))).toBe(false)
})

test('fixtures and launchers are where the setup put them', () => {
  expect(existsSync(fixture('storage-appender')[1])).toBe(true)
  expect(existsSync(launcher('heimdall')[1])).toBe(true)
})
