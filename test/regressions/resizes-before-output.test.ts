// Sizes for a screen on which nothing was drawn in between must not pile up until the child writes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OutputLog } from '../../src/supervisor/streams/output-log.ts'
import { Screen } from '../../src/supervisor/screen/screen.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'

/** In the emulator's place: answers how many sizes it was sent. */
const COUNTER = `
const { parentPort } = require('node:worker_threads')
let sizes = 0
parentPort.on('message', (message) => {
  if (message.is === 'size') sizes += 1
  if (message.is === 'look')
    parentPort.postMessage({ request: message.request, size: {}, modes: { sizes }, drawing: new Uint8Array(0) })
})
`

test('the emulator is told one size for each place in the output, however many there were', async () => {
  const worker = join(temporaryFolder(), 'counter.cjs')
  writeFileSync(worker, COUNTER)
  const output = new OutputLog(1 << 20)
  const screen = new Screen({
    output,
    size: { cols: 80, rows: 24 },
    worker,
    clock: fakeClock(),
    log: { write: () => undefined, close: () => undefined },
    onQuestion: () => undefined,
    onAnswer: () => undefined,
  })
  onTestFinished(() => screen.close())
  for (const place of [1, 2, 3]) {
    for (let n = 0; n < 1_000; n += 1) screen.resize({ cols: 80 + (n % 2), rows: 24 })
    output.room().write('x')
    output.commit(1)
    screen.advance()
    if (place === 2) expect((await screen.summary()).modes).toEqual({ sizes: 2 })
  }
  expect((await screen.summary()).modes).toEqual({ sizes: 3 })
})
