// Sizes for a screen on which nothing was drawn in between, and who answers for it, must not pile up until the child writes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OutputLog } from '../../src/supervisor/streams/output-log.ts'
import { Screen } from '../../src/supervisor/screen/screen.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'

/** In the emulator's place: answers how many sizes it was sent, and how often it was told who answers. */
const COUNTER = `
const { parentPort } = require('node:worker_threads')
let sizes = 0
let turns = 0
parentPort.on('message', (message) => {
  if (message.is === 'size') sizes += 1
  if (message.is === 'answering') turns += 1
  if (message.is === 'look')
    parentPort.postMessage({ request: message.request, size: {}, modes: { sizes, turns }, drawing: new Uint8Array(0) })
})
`

function openScreen(): { screen: Screen; say: (text: string) => void } {
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
  const say = (text: string): void => {
    output.commit(output.room().write(text))
    screen.advance()
  }
  return { screen, say }
}

test('the emulator is told one size for each place in the output, however many there were', async () => {
  const { screen, say } = openScreen()
  for (const place of [1, 2, 3]) {
    for (let n = 0; n < 1_000; n += 1) screen.resize({ cols: 80 + (n % 2), rows: 24 })
    say('x')
    if (place === 2) expect((await screen.summary()).modes).toMatchObject({ sizes: 2 })
  }
  expect((await screen.summary()).modes).toMatchObject({ sizes: 3 })
})

test('a thousand who attach to a program that has written nothing leave one size and one word on who answers', async () => {
  const { screen, say } = openScreen()
  for (let n = 0; n < 1_000; n += 1) {
    screen.answering(false)
    screen.resize({ cols: 100, rows: 30 })
    screen.answering(true)
    screen.resize({ cols: 80, rows: 24 })
  }
  say('x')
  expect((await screen.summary()).modes).toEqual({ sizes: 1, turns: 1 })
})
