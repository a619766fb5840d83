// Each real host asks a person in a terminal of ours: the stream is what `npm test` plays, and still what it was when it was kept.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'vitest'
import { createTerminal } from '../../src/cells/terminal.ts'
import { spine } from '../spine/spine.ts'
import {
  anonymousCast,
  castPath,
  keysOf,
  promptOn,
  readCast,
  rowsOf,
  screensOf,
  seenCastPath,
  writeCast,
} from '../support/hosts/casts.ts'
import { ASKS } from '../support/hosts/in-pane.ts'
import { READY } from '../support/hosts/in-terminal.ts'
import { installedHost } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { PERMISSIONS, type Prompts, QUESTION } from '../support/hosts/prompts.ts'
import { expectSame, IS_RECORDING } from '../support/hosts/recordings.ts'
import { act, dialogue, type HostName, oneOf, say } from '../support/hosts/script.ts'
import { answers } from '../support/needs-input.ts'
import { fixture } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'
import { start } from '../supervisor/support/session.ts'

const COLS = 100
const ROWS = 30

const SCRIPT = oneOf(
  dialogue('GO create files', [
    act({ shell: 'touch first.txt', asks: true }),
    act({ shell: 'touch second.txt', asks: true }),
    say('ALL DONE'),
  ]),
  dialogue(QUESTION.words, [
    act({
      call: 'AskUserQuestion',
      input: {
        questions: [
          {
            question: 'Which colour shall it be?',
            header: 'Colour',
            multiSelect: false,
            options: [
              { label: 'Red', description: 'warm' },
              { label: 'Blue', description: 'cold' },
            ],
          },
        ],
      },
    }),
    say('ALL DONE'),
  ]),
)

/** Hosts take no key for an answer that comes sooner than a person could have read the question. */
const READ_MS = 1_000

/** What stands at the bottom of a prompt that is drawn whole. */
const BOTTOM: Readonly<Record<HostName, string>> = {
  claude: 'Esc to cancel',
  codex: 'Press enter to confirm',
  gemini: '3. No, suggest changes',
}

const ROWS_OF_TEST = [...PERMISSIONS, QUESTION].filter(({ host }) => installedHost(host) !== undefined)

test.each(ROWS_OF_TEST)('$cast: what a session says of it, and the prompt itself, are as recorded', async (row) => {
  const seen = await seenWith(row)
  const kept = castPath(row.cast)
  if (IS_RECORDING) writeCast(kept, seen.head, seen.events)
  const recorded = readCast(kept)
  expectSame(row.host, row.cast, [seen.head.host_version, recorded.head.host_version])
  expectSame(row.host, row.cast, [keysOf(seen), keysOf(recorded)])
  expectSame(row.host, row.cast, await Promise.all([seen, recorded].map((cast) => promptsOf(row, cast))))
})

/** Has the host ask and be answered, each time as soon as the session says what it should. */
async function seenWith({ cast, host: name, title, words, yes, isDeaf = false, source, evidence, files }: Prompts) {
  const project = spine()
  const host = prepareHost(name, { project, model: await modelServer(SCRIPT) })
  const keep = join(temporaryFolder(), 'cast')
  writeFileSync(keep, '{}\n')
  const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...host.env }
  const how = { command: host.interactive(), cwd: project.root, env, keep, isDeaf }
  const session = await start([...fixture('recorded-terminal'), JSON.stringify(how)], { cols: COLS, rows: ROWS })
  const client = await session.connect()
  const terminal = createTerminal({ cols: COLS, rows: ROWS })
  client.onOutput = (bytes) => terminal.write(Uint8Array.from(bytes))
  client.subscribe({ events: true })
  const see = (what: string | RegExp): Promise<boolean> =>
    until(
      `the screen to show ${String(what)}`,
      () => rowsOf(terminal).some((row) => (typeof what === 'string' ? row.includes(what) : what.test(row))),
      { context: () => rowsOf(terminal).join('\n') },
    )
  await see(READY[name])
  client.type(words)
  await see(words)
  client.type('\r')
  for (const [i, words_] of evidence.entries()) {
    const wanted = { value: true, source, evidence: words_ }
    await client.waitFor(`prompt ${i + 1}: ${words_}`, () => isDeepStrictEqual(answers(client).at(-1), wanted))
    if (files[i] !== undefined) await see(`touch ${files[i]}`)
    await see(BOTTOM[name])
    await delay(READ_MS)
    const before = answers(client).length
    client.type(yes)
    await client.waitFor('the answer', () =>
      answers(client)
        .slice(before)
        .some(({ value }) => !value),
    )
    const made = files[i] === undefined ? undefined : project.path(files[i])
    if (made !== undefined) await until(`${made} to be made`, () => existsSync(made))
  }
  await see('ALL DONE')
  await client.waitFor('nobody to be needed', () => answers(client).at(-1)?.value === false)
  const head = {
    version: 2,
    width: COLS,
    height: ROWS,
    title: `${host.title} ${host.version}: ${title}`,
    host: name,
    host_version: host.version,
  }
  const { events } = readCast(keep)
  writeCast(seenCastPath(cast), head, anonymousCast(events, project))
  return readCast(seenCastPath(cast))
}

/** The prompts that were answered, without the files that they are for. */
async function promptsOf({ host, evidence }: Prompts, cast: Parameters<typeof screensOf>[0]): Promise<string[][]> {
  const screens = (await screensOf(cast)).slice(-evidence.length)
  return screens.map((screen) =>
    promptOn(screen, evidence[0] === QUESTION.evidence[0] ? 'Which colour shall it be?' : ASKS[host]).map((line) =>
      line.replaceAll(/(?:\/[\w.-]+)+/g, '/…'),
    ),
  )
}
