// Two sessions that were started at once on a new machine both made the folder of sockets, and one of them failed.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/project.ts'

const ROUNDS = 200

/** Both begin each round at the same moment. */
const MAKER = `
const { workerData: { module, base, shared }, parentPort } = require('node:worker_threads')
import(module).then(({ ensureSessionDir }) => {
  const begun = new Int32Array(shared)
  const failures = []
  for (let round = 0; round < ${ROUNDS}; round += 1) {
    Atomics.add(begun, 0, 1)
    while (Atomics.load(begun, 0) < 2 * (round + 1));
    try {
      ensureSessionDir(base + '/' + round + '/sessions', process.getuid())
    } catch (error) {
      failures.push(String(error))
    }
  }
  parentPort.postMessage(failures)
})`

test('whoever starts at the same moment finds the folder that the other has made', async () => {
  const base = temporaryFolder()
  const module = join(base, 'session-dir.mjs')
  const build = await rolldown({ input: 'src/sessions/session-dir.ts', platform: 'node' })
  await build.write({ file: module, format: 'esm' })
  await build.close()
  const shared = new SharedArrayBuffer(4)
  const made = [1, 2].map(
    () =>
      new Promise((resolve, reject) => {
        const maker = new Worker(MAKER, { eval: true, workerData: { module, base, shared } })
        maker.once('message', resolve)
        maker.once('error', reject)
      }),
  )
  expect(await Promise.all(made)).toEqual([[], []])
})
