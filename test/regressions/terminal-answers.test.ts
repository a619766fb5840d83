// A program that asks its terminal is answered, exactly once: by the session, or by the terminal of whoever is given the
// bytes as they are. Answers have the forms of ECMA-48, DEC STD 070 and xterm's "Control Sequences".
import { expect, test } from 'vitest'
import { encodeResize } from '../../src/wire/encode.ts'
import { hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { type Client, start } from '../supervisor/support/session.ts'
import { fixture } from '../support/programs.ts'
import { until } from '../support/wait.ts'

const ESC = '\u001b'
const ask = (...rounds: string[]): string[] => [
  ...fixture('terminal-asker'),
  ...rounds.map((round) => JSON.stringify(round)),
]

/** What the program was told in its round `n`. */
function answersIn(output: string, n: number): string | undefined {
  const line = new RegExp(`answers ${n}: (".*")[\r\n]`).exec(output)?.[1]
  return line === undefined ? undefined : (JSON.parse(line) as string)
}

async function round(client: Client, n: number): Promise<string> {
  client.type('\r')
  return await client.waitFor(`round ${n}`, () => answersIn(client.output(), n))
}

test('nobody attached: cursor, device, version, colours and modes are answered once each, in the order asked', async () => {
  const session = await start(
    ask(
      `${ESC}[2J${ESC}[3;5Hab${ESC}[6n${ESC}[?6n`,
      `${ESC}[c${ESC}[0c`,
      `${ESC}[>c`,
      `${ESC}[>q`,
      `${ESC}]10;?\u0007${ESC}]11;?${ESC}\\${ESC}]4;1;?;255;?\u0007`,
      `${ESC}]11;#336699\u0007${ESC}]11;?\u0007${ESC}]111\u0007${ESC}]11;?\u0007`,
      `${ESC}[?2004h${ESC}[?2004$p${ESC}[?2004l${ESC}[?2004$p${ESC}[4$p${ESC}[?54321$p${ESC}[?2027$p`,
      `${ESC}[18t${ESC}[?u`,
    ),
    { cols: 80, rows: 24 },
  )
  const client = await session.connect()
  // Reads along as the seed's own client does; without a size it has no terminal that could answer.
  client.subscribe()
  await client.waitForOutput('ready')
  const color = 'rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}'
  const expected = [
    /^\x1b\[3;7R\x1b\[\?3;7R$/,
    /^(\x1b\[\?\d+(;\d+)*c){2}$/,
    /^\x1b\[>\d+;\d+;\d+c$/,
    /^\x1bP>\|heimdall\(\d+\.\d+\.\d+\)\x1b\\$/,
    new RegExp(
      `^\x1b]10;${color}\x1b\\\\\x1b]11;${color}\x1b\\\\\x1b]4;1;${color}\x1b\\\\\x1b]4;255;${color}\x1b\\\\$`,
    ),
    new RegExp(`^\x1b]11;rgb:3333/6666/9999\x1b\\\\\x1b]11;(?!rgb:3333)${color}\x1b\\\\$`),
    /^\x1b\[\?2004;1\$y\x1b\[\?2004;2\$y\x1b\[4;2\$y\x1b\[\?54321;0\$y\x1b\[\?2027;3\$y$/,
    /^\x1b\[8;24;80t\x1b\[\?0u$/,
  ]
  for (const [n, pattern] of expected.entries()) expect(await round(client, n)).toMatch(pattern)
  expect(await round(client, expected.length)).toBe('')
  expect(await client.exit()).toBe(0)
})

test('in the middle of a flood the answer comes while the flood goes on', async () => {
  const session = await start(ask(`FLOOD${ESC}[c`))
  const client = await session.connect()
  client.subscribe()
  client.onOutput = () => undefined
  await client.waitForOutput('ready')
  client.type('\r')
  await client.waitFor('the answer', () => answersIn(client.output(), 0)?.match(/^\x1b\[\?\d+(;\d+)*c$/) ?? undefined)
  expect(await round(client, 1)).toBe('')
})

test('a client of the seed with a terminal answers for it; when it has left, the session does', async () => {
  const session = await start(ask(`${ESC}[c`, `${ESC}[c`))
  const reader = await session.connect()
  reader.subscribe({ readOnly: true })
  await reader.waitForOutput('ready')
  const viewer = await session.connect()
  viewer.subscribe()
  viewer.socket.write(encodeResize({ cols: 80, rows: 24 }))
  await viewer.waitForOutput('ready')
  viewer.type('\r')
  await viewer.waitForOutput(`${ESC}[5n`)
  viewer.type(`${ESC}[?62;4c${ESC}[0n`)
  await reader.waitFor('the answer of the terminal', () => answersIn(reader.output(), 0) === `${ESC}[?62;4c`)
  viewer.close()
  const typist = await session.connect()
  await until('the viewer to be gone', async () => (await typist.info()).clients === 2)
  typist.type('\r')
  await reader.waitFor(
    'the answer of the session',
    () => answersIn(reader.output(), 1)?.match(/^\x1b\[\?1;2c$/) ?? undefined,
  )
  typist.type('\r')
  expect(await reader.waitFor('the last round', () => answersIn(reader.output(), 2))).toBe('')
})

test('of two clients with terminals of their own one answers, and what is typed at either arrives', async () => {
  const session = await start(ask(`${ESC}[c${ESC}]11;?\u0007`, `${ESC}[c`))
  const [reader, first, second] = [await session.connect(), await session.connect(), await session.connect()]
  reader.subscribe({ readOnly: true })
  for (const viewer of [first, second]) {
    viewer.subscribe()
    viewer.socket.write(encodeResize({ cols: 80, rows: 24 }))
    // Answered in order: both are known before anything is asked.
    await viewer.status()
  }
  await second.waitForOutput('ready')
  second.type('\r')
  for (const viewer of [first, second]) await viewer.waitForOutput(`${ESC}[5n`)
  second.type(`${ESC}[?62;2c${ESC}]11;rgb:0/0/0\u0007${ESC}[0n`)
  await second.status()
  first.type(`${ESC}[?61;1c${ESC}]11;rgb:f/f/f${ESC}\\${ESC}[0n`)
  expect(await reader.waitFor('the answer', () => answersIn(reader.output(), 0))).toBe(
    `${ESC}[?61;1c${ESC}]11;rgb:f/f/f${ESC}\\`,
  )
  first.close()
  await until('the first to be gone', async () => (await reader.info()).clients === 2)
  second.type('\r')
  await second.waitFor('the second question', () => second.output().split(`${ESC}[5n`).length === 3)
  second.type(`${ESC}[?62;2c${ESC}[0n`)
  expect(await reader.waitFor('the answer of the other', () => answersIn(reader.output(), 1))).toBe(`${ESC}[?62;2c`)
})

test('attached: the session answers once, however many watch; who comes later is not answered for again', async () => {
  const home = hm()
  await home.session('asked', ask(`${ESC}[6n`, `${ESC}[c`))
  const one = atTerminal(home, ['attach', 'asked'], { answers: true })
  const two = atTerminal(home, ['attach', 'asked'], { answers: true })
  await one.see('ready')
  await two.see('ready')
  one.type('\r')
  await one.see('answers 0: "\\u001b[2;1R"')
  const late = atTerminal(home, ['attach', 'asked'], { answers: true })
  await late.see('answers 0')
  late.type('\r')
  await late.see('answers 1: "\\u001b[?1;2c"')
  late.type('\r')
  await late.see('answers 2: ""')
})

test('--inline: the terminal outside answers, once, and is not asked again what was asked before it came', async () => {
  const home = hm()
  await home.session('inline', ask(`first${ESC}[c`, `second${ESC}[c`))
  const logs = home.start(['logs', 'inline', '-f'])
  await logs.waitForLine('ready')
  await home.run(['send', 'inline', '--key', 'enter'])
  await logs.waitForLine('answers 0: "\\u001b[?1;2c"')
  const person = atTerminal(home, ['attach', 'inline', '--inline'], { answers: `${ESC}[?64;1c` })
  await person.see('answers 0')
  expect(person.written()).toContain('first')
  expect(person.written()).not.toContain(`${ESC}[c`)
  person.type('\r')
  await person.see('answers 1: "\\u001b[?64;1c"')
  person.type('\r')
  await person.see('answers 2: ""')
})

test('the colours are those of the terminal that looks on, from the first question on; who only watches changes nothing', async () => {
  const home = hm()
  const light = { cols: 120, colors: ['rgb:1111/2222/3333', 'rgb:ffff/eeee/dddd'] } as const
  const program = ask(`${ESC}]10;?\u0007${ESC}]11;?\u0007`, `${ESC}]11;?\u0007`, `${ESC}]11;?\u0007`)
  const starter = atTerminal(home, ['run', '--id', 'colors', '--', ...program], light)
  await starter.see('ready')
  starter.type('\r')
  await starter.see('answers 0: "\\u001b]10;rgb:1111/2222/3333\\u001b\\\\\\u001b]11;rgb:ffff/eeee/dddd\\u001b\\\\"')

  const dark = { cols: 120, colors: ['rgb:ff/ff/ff', 'rgb:0/0/8'] } as const
  const watcher = atTerminal(home, ['attach', 'colors', '--read-only'], dark)
  await watcher.see('answers 0')
  starter.type('\r')
  await starter.see('answers 1: "\\u001b]11;rgb:ffff/eeee/dddd\\u001b\\\\"')

  const other = atTerminal(home, ['attach', 'colors'], dark)
  await other.see('answers 1')
  // What it says of itself comes before what is typed in it.
  await until('the terminal to be asked', () => other.answered().includes(`${ESC}]11;`))
  other.type('\r')
  await other.see('answers 2: "\\u001b]11;rgb:0000/0000/8888\\u001b\\\\"')
})

test('prompt_toolkit finds a terminal that says where the cursor is', async () => {
  const program = `
import asyncio
from prompt_toolkit import PromptSession
from prompt_toolkit.renderer import CPR_Support
async def main():
    session = PromptSession()
    async def watch():
        while session.app.renderer.cpr_support == CPR_Support.UNKNOWN:
            await asyncio.sleep(0.01)
        session.app.exit(result=str(session.app.renderer.cpr_support))
    asyncio.ensure_future(watch())
    print('seen:', await session.prompt_async('> '))
asyncio.run(main())
`
  const session = await start(['python3', '-c', program], { cols: 80, rows: 24 })
  const client = await session.connect()
  client.subscribe()
  expect(await client.exit()).toBe(0)
  expect(client.output()).toContain('seen: CPR_Support.SUPPORTED')
  expect(client.output()).not.toContain('WARNING')
})
