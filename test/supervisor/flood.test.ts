// A flood: the emulator sleeps through it, and afterwards knows what matters of it.
import headless from '@xterm/headless'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OutputLog } from '../../src/supervisor/streams/output-log.ts'
import { Screen } from '../../src/supervisor/screen/screen.ts'
import { decodeSnapshot } from '../../src/wire/decode.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { openPane } from '../support/tmux.ts'
import { sh, start } from './support/session.ts'

const SIZE = { cols: 80, rows: 24 }

/** Threads that were started since. */
function countThreads(): () => number {
  let count = 0
  const started = (): void => void (count += 1)
  subscribe('worker_threads', started)
  onTestFinished(() => void unsubscribe('worker_threads', started))
  expect(channel('worker_threads').hasSubscribers).toBe(true)
  return () => count
}

async function rowsOf(drawing: Buffer): Promise<string[]> {
  const terminal = new headless.Terminal({ ...SIZE, allowProposedApi: true })
  await new Promise<void>((done) => terminal.write(drawing, done))
  const { active } = terminal.buffer
  return Array.from({ length: SIZE.rows }, (_, n) => active.getLine(active.baseY + n)?.translateToString(true) ?? '')
}

function openScreen() {
  const clock = fakeClock()
  const output = new OutputLog(6 << 20)
  const asked: unknown[] = []
  const screen = new Screen({
    output,
    size: { cols: 200, rows: 50 },
    worker: resolve('dist/screen-worker.cjs'),
    clock,
    log: { write: () => undefined, close: () => undefined },
    onQuestion: (question) => asked.push(question),
    onAnswer: () => undefined,
  })
  onTestFinished(() => screen.close())
  const say = (text: string): void => {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) {
      const count = bytes.copy(output.room(), 0, at)
      output.commit(count)
      at += count
    }
    screen.advance()
  }
  /** As fast as a terminal gives it: some 6 MB between two looks at the clock. */
  const flood = (line: string): void => {
    const text = line.repeat(Math.ceil((64 << 10) / line.length))
    for (let n = 0; n < 100; n += 1) say(text)
    clock.advance(250)
  }
  return { clock, screen, asked, say, flood }
}

test('while output floods no emulator is started; the first look afterwards knows modes, size and the last lines', async () => {
  const threads = countThreads()
  const { screen, say, flood } = openScreen()
  say('\u001b[?1049h\u001b[?2004h\u001b[?1h')
  flood('plain text that goes by\r\n')
  screen.resize(SIZE)
  flood('\u001b[32mgreen text\u001b[0m that goes by\r\n')
  say('\u001b[?2004l')
  for (let n = 0; n < 6; n += 1) flood('more of it\r\n')
  say('\u001b[2J\u001b[Hthe end')
  expect(threads()).toBe(0)
  expect((await screen.summary()).modes).toMatchObject({
    alt_screen: true,
    bracketed_paste: false,
    application_cursor: true,
  })
  expect(threads()).toBe(1)
  const snapshot = await screen.snapshot()
  expect(snapshot).toMatchObject({ size: SIZE, isWhole: true })
  expect((await rowsOf(snapshot?.bytes ?? Buffer.alloc(0)))[0]).toBe('the end')
})

test('the first pause wakes it, and what it shows then is asked', async () => {
  const threads = countThreads()
  const { clock, asked, say, flood } = openScreen()
  flood('plain text that goes by\r\n')
  say('Do you want to proceed? (y/n) ')
  clock.advance(250)
  expect(threads()).toBe(0)
  clock.advance(250)
  expect(threads()).toBe(1)
  await expect.poll(() => asked).toEqual([expect.objectContaining({})])
})

test('a flood that says more than may wait wakes it', async () => {
  const threads = countThreads()
  const { screen, flood } = openScreen()
  // Each of these outlasts the text around it.
  flood('\u001b[?2004h\u001b[?2004l')
  expect(threads()).toBe(1)
  expect((await screen.summary()).modes).toMatchObject({ bracketed_paste: false })
})

test('after a flood the screen is the one that tmux shows', async () => {
  const lines = `yes "$(printf '\\033[3%dm%s\\033[0m' 2 'a line of the flood')" | head -n 300000`
  const last = `printf '\\033[1;31mred\\033[0m'; printf '\\033[5;10Hplaced\\033[24;1H<over>'`
  const command = sh(`stty -echo; ${lines}; ${last}; read x`)
  const session = await start(command, SIZE)
  const pane = await openPane(command, SIZE)
  await pane.see('<over>')
  const client = await session.connect()
  let seen = ''
  client.onOutput = (bytes) => (seen = (seen + bytes.toString('latin1')).slice(-200))
  client.subscribe()
  await client.waitFor('the end of the flood', () => seen.includes('<over>'))
  const viewer = await session.connect()
  viewer.subscribe({ from: 'snapshot' })
  const parts = await viewer.waitFor('the whole snapshot', () => {
    const all = viewer.frames.filter(({ name }) => name === 'snapshot').map(({ payload }) => decodeSnapshot(payload))
    return all.at(-1)?.isLast === true && all
  })
  expect(await rowsOf(Buffer.concat(parts.map(({ bytes }) => bytes)))).toEqual(await pane.capture())
})
