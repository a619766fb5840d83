// The screen, size, needs-input and real programs: what a client that asks for more than the seed gets.
import headless from '@xterm/headless'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeJson, encodeResize } from '../../src/wire/encode.ts'
import { decodeReplayEnd, decodeSnapshot } from '../../src/wire/decode.ts'
import { parseErrorMessage, parseState, type StateEvent } from '../../src/wire/payloads.ts'
import { temporaryFolder } from '../support/project.ts'
import { waitForFile } from '../support/wait.ts'
import { type Client, sh, start } from './support/session.ts'
import { writer } from './support/lines.ts'

interface Shown {
  readonly rows: string[]
  readonly cursor: [number, number]
  readonly type: string
}

/** What a person sees on a terminal that was given these bytes. */
async function show(
  bytes: readonly Buffer[],
  cols: number,
  rows: number,
): Promise<Shown & { readonly answers: string }> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true })
  let answers = ''
  terminal.onData((text) => (answers += text))
  await new Promise<void>((resolve) => terminal.write(Buffer.concat(bytes), resolve))
  const { active } = terminal.buffer
  return {
    rows: Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? ''),
    cursor: [active.cursorX, active.cursorY],
    type: active.type,
    answers,
  }
}

const SIZE = { cols: 80, rows: 24 }

async function snapshotOf(client: Client): Promise<Shown & { readonly answers: string }> {
  const parts = await client.waitFor('the whole snapshot', () => {
    const all = client.frames.filter((frame) => frame.name === 'snapshot').map((frame) => decodeSnapshot(frame.payload))
    return all.at(-1)?.isLast === true && all
  })
  return show(
    parts.map((part) => part.bytes),
    SIZE.cols,
    SIZE.rows,
  )
}

const states = (client: Client): StateEvent[] =>
  client.frames.filter((frame) => frame.name === 'state').map((frame) => parseState(frame.payload))

test('vim: a late client gets the screen as it is, on the alternate screen, and its terminal is asked nothing', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'poem'), 'tyger tyger\nburning bright\n')
  const session = await start(['vim', '-u', 'NONE', '-N', 'poem'], { ...SIZE, cwd: folder })
  const first = await session.connect()
  first.subscribe()
  await first.waitForOutput('burning bright')
  first.type('Gothe forests of the night\x1b')
  await first.waitForOutput(/the night/)
  const late = await session.connect()
  late.subscribe({ from: 'snapshot' })
  const shown = await snapshotOf(late)
  expect(shown.rows.slice(0, 3)).toEqual(['tyger tyger', 'burning bright', 'the forests of the night'])
  expect([shown.type, shown.answers]).toEqual(['alternate', ''])
  late.type(':q!\r')
  expect(await late.exit()).toBe(0)
})

test('snapshot and live output join: what both draw is what the whole stream draws', async () => {
  const session = await start(
    sh(
      'i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf "\\033[3%dmline %d\\033[0m\\r\\n" $((i%8)) $i; done; read x; exit 5',
    ),
    SIZE,
  )
  const whole = await session.connect()
  whole.subscribe({ from: 0 })
  const joins: Client[] = []
  for (let n = 0; n < 6; n += 1) {
    const client = await session.connect()
    client.subscribe({ from: 'snapshot', replayEnd: true })
    joins.push(client)
    await client.frame('snapshot')
  }
  await whole.waitForOutput('line 400')
  whole.type('\n')
  await Promise.all([whole, ...joins].map((client) => client.exit()))
  const expected = await show([whole.bytes()], SIZE.cols, SIZE.rows)
  for (const client of joins) {
    const drawn = client.frames.flatMap((frame) =>
      frame.name === 'snapshot'
        ? [decodeSnapshot(frame.payload).bytes]
        : frame.name === 'output'
          ? [frame.payload]
          : [],
    )
    expect(await show(drawn, SIZE.cols, SIZE.rows)).toEqual(expected)
    const [snapshot, marker] = ['snapshot', 'replayEnd'].map((name) =>
      client.frames.find((frame) => frame.name === name),
    )
    expect(decodeReplayEnd(marker?.payload ?? Buffer.alloc(8))).toBe(
      decodeSnapshot(snapshot?.payload ?? Buffer.alloc(13)).offset,
    )
  }
})

test('a client that stalls past the bound is told the gap and redrawn; the others lose nothing and wait no longer than the bound', async () => {
  const session = await start(
    sh('read go; "$@"; printf "\\033[2J\\033[Hthe end"; read x').concat('x', ...writer(24 << 20)),
    // Longer than a test that reads is held up on a busy machine.
    { ...SIZE, stallMs: 2_000 },
  )
  const [live, stalled, plain] = await Promise.all([session.connect(), session.connect(), session.connect()])
  let liveBytes = 0
  live.onOutput = (bytes) => (liveBytes += bytes.length)
  live.subscribe({ from: 0, gaps: true })
  stalled.onOutput = () => undefined
  stalled.subscribe({ from: 0, gaps: true, redraw: true })
  plain.onOutput = () => undefined
  plain.subscribe()
  await Promise.all([live, stalled, plain].map((client) => client.status()))
  for (const client of [stalled, plain]) client.socket.pause()
  live.type('\n')
  await live.waitForOutput('the end')
  expect(live.gaps()).toEqual([])
  for (const client of [stalled, plain]) client.socket.resume()
  const shown = await snapshotOf(stalled)
  expect(shown.rows[0]).toBe('the end')
  const [gap] = stalled.gaps()
  expect(gap?.droppedBytes).toBeGreaterThan(0)
  live.type('\n')
  await Promise.all([live, stalled, plain].map((client) => client.exit()))
  expect(plain.names().filter((name) => name !== 'statusResp')).toEqual(['exit'])
  expect(plain.outputBytes).toBeLessThan(liveBytes)
})

test('resume by offset: exactly the bytes from there on; a lost offset is a gap', async () => {
  const session = await start(sh('printf 0123456789; read x; printf abcdef; read y'))
  const first = await session.connect()
  first.subscribe()
  await first.waitForOutput('0123456789')
  const again = await session.connect()
  again.subscribe({ from: 4, replayEnd: true })
  const end = await again.frame('replayEnd')
  expect([again.output(), decodeReplayEnd(end.payload)]).toEqual(['456789', 10])
  first.type('\n')
  await again.waitForOutput('456789\r\nabcdef')
})

test('read-only viewers neither type, resize nor kill, and are told so', async () => {
  const session = await start(['cat'], SIZE)
  const viewer = await session.connect()
  viewer.subscribe({ readOnly: true })
  viewer.type('x')
  viewer.socket.write(encodeResize({ cols: 10, rows: 10 }))
  viewer.send('kill')
  await viewer.waitFor('three refusals', () => viewer.count('error') === 3)
  expect(
    new Set(viewer.frames.filter(({ name }) => name === 'error').map(({ payload }) => parseErrorMessage(payload).code)),
  ).toEqual(new Set(['SESSION_READ_ONLY']))
  const info = await viewer.info()
  expect([info.alive, info.cols, info.rows, viewer.output()]).toEqual([true, 80, 24, ''])
})

test('size: zero and absurd ones are refused, the last one who asked has it, and on leaving the one before', async () => {
  const session = await start(sh('trap "stty size" WINCH; echo up; while :; do read x; done'), SIZE)
  const [a, b] = await Promise.all([session.connect(), session.connect()])
  a.subscribe({ events: true })
  b.subscribe()
  await a.waitForOutput('up')
  for (const size of [
    { cols: 0, rows: 0 },
    { cols: 65_535, rows: 65_535 },
    { cols: 80, rows: 0 },
  ])
    a.socket.write(encodeResize(size))
  await a.waitFor('refusals', () => a.count('error') === 3)
  a.socket.write(encodeResize({ cols: 100, rows: 40 }))
  await a.waitForOutput('40 100')
  b.socket.write(encodeResize({ cols: 60, rows: 20 }))
  await a.waitForOutput('20 60')
  b.close()
  await a.waitForOutput(/20 60[^]*40 100/)
  expect(states(a).at(-1)).toMatchObject({ cols: 100, rows: 40 })
})

test('a pinned size stays', async () => {
  const session = await start(['cat'], { ...SIZE, pinnedSize: true })
  const client = await session.connect()
  client.socket.write(encodeResize({ cols: 100, rows: 40 }))
  expect(await client.info()).toMatchObject({ pinned: true, cols: 80, rows: 24 })
})

test('needs input: hook and terminal signals first, the screen second, each with its evidence; input answers', async () => {
  const session = await start(
    sh(
      'printf "\\033]0;my job\\007Proceed? [y/N] "; read x; printf "\\033]9;Claude needs your permission\\007"; read y; printf "\\033]7501;state=blocked:kind=question:msg=V2h5Pw==\\033\\\\"; read z; read w',
    ),
    SIZE,
  )
  const client = await session.connect()
  client.subscribe({ events: true })
  const seen = (source: string): Promise<StateEvent> =>
    client.waitFor(`needs input by ${source}`, () => {
      const last = states(client).at(-1)
      return last?.needs_input.value === true && last.needs_input.source === source && last
    })
  expect(await seen('screen')).toMatchObject({ title: 'my job', needs_input: { evidence: 'Proceed? [y/N]' } })
  client.type('y\n')
  expect((await seen('osc')).needs_input.evidence).toBe('OSC 9: Claude needs your permission')
  client.type('y\n')
  await client.waitFor(
    'the next signal',
    () => states(client).at(-1)?.needs_input.evidence === 'OSC 7501: question: Why?',
  )
  client.socket.write(encodeJson('report', { source: 'hook', needs_input: true, evidence: 'permission for Bash' }))
  expect((await seen('hook')).needs_input.evidence).toBe('permission for Bash')
  client.socket.write(encodeJson('report', { source: 'hook', needs_input: false }))
  await client.waitFor('the answer', () => states(client).at(-1)?.needs_input.value === false)
  expect((await client.info()).needs_input).toEqual({ value: false, source: 'hook', evidence: null })
})

test('INFO tells modes, command, offsets and clients', async () => {
  const session = await start(sh('printf "\\033[?2004h\\033[?1049hhello"; read x'), SIZE)
  const client = await session.connect()
  client.subscribe()
  await client.waitForOutput('hello')
  const info = await client.info()
  expect(info.modes).toMatchObject({ bracketed_paste: true, alt_screen: true, mouse: false })
  expect(info).toMatchObject({
    id: 't',
    pid: session.pid,
    supervisor_pid: session.supervisor_pid,
    cwd: '/',
    offset_start: 0,
    clients: 1,
  })
  expect([info.command[0], info.offset_end]).toEqual(['sh', client.outputBytes])
})

test('a child that closes its terminal and lives on is still there, and its end is still seen', async () => {
  const cwd = temporaryFolder()
  const script = 'exec </dev/null >/dev/null 2>&1; >closed; until [ -e go ]; do sleep 0.05; done; exit 9'
  const session = await start(sh(script), { cwd })
  const client = await session.connect()
  client.subscribe()
  await waitForFile(join(cwd, 'closed'))
  expect((await client.status()).alive).toBe(true)
  writeFileSync(join(cwd, 'go'), '')
  expect(await client.exit()).toBe(9)
})

test('garbage from the child goes through unchanged, and the session lives', async () => {
  const session = await start(sh('stty raw; head -c 300000 /dev/urandom | tee copy; echo END; read x'), {
    cwd: temporaryFolder(),
    scrollbackBytes: 1 << 20,
  })
  const client = await session.connect()
  client.subscribe()
  await client.waitFor('everything', () => client.bytes().subarray(-4).equals(Buffer.from('END\n')))
  expect(client.outputBytes).toBe(300_004)
  const viewer = await session.connect()
  viewer.subscribe({ from: 'snapshot' })
  await snapshotOf(viewer)
  expect((await viewer.info()).alive).toBe(true)
})

test('a snapshot that lacks what was drawn in a flood says so, until the program draws afresh', async () => {
  const redraws = 'yes "$(printf \'\\033[5;1Hnothing but this row\')" | head -c 30000000'
  const script = `stty -echo; printf '\\033[?1049h\\033[2J\\033[H'; ${redraws}; printf '\\033[9;1H<over>'; read x; printf '\\033[2J\\033[H<fresh>'; read x`
  const session = await start(sh(script), SIZE)
  const typing = await session.connect()
  let seen = ''
  typing.onOutput = (bytes) => (seen = (seen + bytes.toString('latin1')).slice(-200))
  typing.subscribe()
  await typing.waitFor('the end of the flood', () => seen.includes('<over>'))
  const first = await session.connect()
  first.subscribe({ from: 'snapshot' })
  expect((await snapshotOf(first)).rows).toContain('<over>')
  expect(wholeness(first)).toBe(false)
  typing.type('\n')
  await typing.waitFor('the fresh screen', () => seen.includes('<fresh>'))
  const second = await session.connect()
  second.subscribe({ from: 'snapshot' })
  expect((await snapshotOf(second)).rows[0]).toBe('<fresh>')
  expect(wholeness(second)).toBe(true)
})

test('a flood of lines leaves a whole screen', async () => {
  const session = await start(sh('stty -echo; yes some text | head -c 30000000; printf "<over>"; read x'), SIZE)
  const typing = await session.connect()
  let seen = ''
  typing.onOutput = (bytes) => (seen = (seen + bytes.toString('latin1')).slice(-200))
  typing.subscribe()
  await typing.waitFor('the end of the flood', () => seen.includes('<over>'))
  const late = await session.connect()
  late.subscribe({ from: 'snapshot' })
  expect((await snapshotOf(late)).rows.at(-1)).toBe('<over>')
  expect(wholeness(late)).toBe(true)
})

const wholeness = (client: Client): boolean | undefined =>
  client.frames.filter((frame) => frame.name === 'snapshot').map((frame) => decodeSnapshot(frame.payload))[0]?.isWhole

test.runIf(existsSync('/proc/self/syscall'))(
  'a script that reads an answer behind its own words waits; one that has gone on to something else does not',
  async () => {
    const folder = temporaryFolder()
    const gate = join(folder, 'gate')
    const session = await start(
      [
        'bash',
        '-c',
        `mkfifo ${gate}; read -p "Which file? " x; read -p "Enter your name: " x; select x in a b; do break; done; printf "Looking for: "; read x < ${gate}; echo; read -p "Choose [1-2]: " x`,
      ],
      SIZE,
    )
    const client = await session.connect()
    client.subscribe({ events: true })
    const evidence = (): string | null => {
      const { value, evidence: seen } = states(client).at(-1)?.needs_input ?? { value: false, evidence: null }
      return value ? seen : null
    }
    for (const [asks, answer] of [
      ['Which file?', 'a'],
      ['Enter your name:', 'b'],
      ['#?', '1'],
    ] as const) {
      await client.waitFor(asks, () => evidence() === asks)
      client.type(`${answer}\n`)
    }
    await client.waitFor('nobody is waited for', () => evidence() === null)
    writeFileSync(gate, 'on\n')
    await client.waitFor('the last question', () => evidence() === 'Choose [1-2]:')
    expect(states(client).map(({ needs_input: { evidence: seen } }) => seen)).not.toContain('Looking for:')
  },
)
