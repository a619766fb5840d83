// Which recorded host screens wait for a human.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { encodeJson } from '../../src/wire/encode.ts'
import type { NeedsInput } from '../../src/wire/payloads.ts'
import { type Client, sh, start } from '../supervisor/support/session.ts'
import { castPath, keysOf, readCast } from '../support/hosts/casts.ts'
import { PERMISSIONS, QUESTION } from '../support/hosts/prompts.ts'
import { answers } from '../support/needs-input.ts'
import { fixture } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'

// Streams that real hosts wrote; names and versions are in the recordings.
/** The evidence of the `n`th time that somebody is needed. */
const raised = (client: Client, n: number): Promise<NeedsInput> =>
  client.waitFor(`needs input, time ${n}`, () => asked(client)[n - 1])

const asked = (client: Client): NeedsInput[] => {
  const all = answers(client)
  return all.filter(({ value }, i) => value && all[i - 1]?.value !== true)
}

const notNeeded = (client: Client): Promise<NeedsInput> =>
  client.waitFor('nobody to be needed', () => {
    const last = answers(client).at(-1)
    return last?.value === false && last
  })

async function replay(name: string): Promise<Client> {
  const session = await start([...fixture('host-replay'), castPath(name)], { cols: 100, rows: 30 })
  const client = await session.connect()
  client.subscribe({ events: true })
  // Its first byte says that it reads keys.
  await client.waitFor('the host', () => client.outputBytes > 0)
  return client
}

test.each(PERMISSIONS)(
  '$cast: two prompts in a row are raised, held through reports of the terminal, answered, raised again',
  async ({ cast, source, evidence }) => {
    const client = await replay(cast)
    const [prompt = '', enter = '', ...keys] = keysOf(readCast(castPath(cast)))
    client.type(prompt)
    client.type(enter)
    for (const [i, key] of keys.entries()) {
      await client.waitForOutput(['first.txt', 'second.txt'][i] ?? '')
      const wanted = { value: true, source, evidence: evidence[i] }
      await client.waitFor(`prompt ${i + 1}`, () => isDeepStrictEqual(answers(client).at(-1), wanted))
      // Focus comes and goes, the mouse moves over the window, the terminal answers a question.
      for (const report of ['\u001b[O', '\u001b[I', '\u001b[<35;20;11M', '\u001b[?62;22c', '\u001b[12;40R'])
        client.type(report)
      expect((await client.info()).needs_input).toEqual(wanted)
      const before = answers(client).length
      client.type(key)
      await client.waitFor('the answer', () =>
        answers(client)
          .slice(before)
          .some(({ value }) => !value),
      )
    }
    expect(await client.exit()).toBe(0)
    expect(answers(client).at(-1)?.value).toBe(false)
  },
)

test('claude-code-question-7501: a question of the model comes with its words', async () => {
  const client = await replay(QUESTION.cast)
  const [prompt = '', enter = '', key = ''] = keysOf(readCast(castPath(QUESTION.cast)))
  client.type(prompt)
  client.type(enter)
  expect((await raised(client, 1)).evidence).toBe(QUESTION.evidence[0])
  client.type(key)
  await notNeeded(client)
})

test('a key that is no answer: the prompt still stands and is raised again, by screen, status and title', async () => {
  for (const name of ['claude-code-permissions', 'claude-code-permissions-7501', 'gemini-permissions']) {
    const client = await replay(name)
    const [prompt = '', enter = ''] = keysOf(readCast(castPath(name)))
    client.type(prompt)
    client.type(enter)
    const first = await raised(client, 1)
    client.type('\u001b[B')
    expect(await raised(client, 2)).toEqual(first)
    const [, cleared] = answers(client).slice(-3)
    expect(cleared?.value).toBe(false)
  }
})

test('the screen is heard beside a hook that said "working"', async () => {
  const session = await start(sh('read x; printf "Proceed? [y/N] "; read y'), { cols: 80, rows: 24 })
  const client = await session.connect()
  client.subscribe({ events: true })
  client.socket.write(encodeJson('report', { source: 'hook', needs_input: false }))
  client.type('go\n')
  expect(await raised(client, 1)).toEqual({ value: true, source: 'screen', evidence: 'Proceed? [y/N]' })
})

test('a prompt that is answered from elsewhere is over when the screen has changed, also while output flows', async () => {
  const answer = join(temporaryFolder(), 'answer')
  const script = `printf 'Do you want to proceed?\\r\\n> 1. Yes\\r\\n'; until [ -e ${answer} ]; do sleep 0.05; done; printf '\\033[2J\\033[H'; while :; do printf '\\rworking'; sleep 0.1; done`
  const session = await start(sh(script), { cols: 80, rows: 24 })
  const client = await session.connect()
  client.subscribe({ events: true })
  await raised(client, 1)
  client.socket.write(encodeJson('report', { source: 'hook', needs_input: true, evidence: 'permission' }))
  await client.waitFor('the hook', () => answers(client).at(-1)?.source === 'hook')
  writeFileSync(answer, '')
  await notNeeded(client)
})

test('OSC 7501;? is answered, before the attributes of the device that end a program’s questions', async () => {
  const session = await start(
    sh("stty raw -echo; printf '\\033]7501;?\\007\\033[c'; dd bs=1 count=13 2>/dev/null | od -An -c"),
    { cols: 80, rows: 24 },
  )
  const client = await session.connect()
  client.subscribe()
  await client.exit()
  expect(client.output().replaceAll(/\s+/g, ' ')).toContain('033 ] 7 5 0 1 ; ? 033 \\ 033 [ ?')
})
