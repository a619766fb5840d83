// What a run has cost, by its record, is what the scripted model said, to the token: with subagents, and without what an earlier run had.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { READERS, transcriptsIn } from '../../src/hosts/usage/transcript-places.ts'
import { spine } from '../spine/spine.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { expectSameVersion, keepLines } from '../support/hosts/recordings.ts'
import { act, dialogue, type HostName, oneOf, type Reply, say, type Tokens, tokens } from '../support/hosts/script.ts'
import { type Json, ofType } from '../support/shim-client.ts'

/** Codex ends when its own part is done, unless it is told to wait for others. */
const WAITS: Record<HostName, readonly Reply[]> = {
  claude: [],
  codex: [act({ call: 'collaboration.wait_agent', input: { timeout_ms: 10_000 } }, { input: 17, output: 9 })],
  gemini: [],
}

const AGAIN: Record<HostName, (words: readonly string[]) => string[]> = {
  claude: (words) => [...words, '--continue'],
  codex: (words) => words.flatMap((word) => (word === 'exec' ? ['exec', 'resume', '--last'] : [word])),
  gemini: (words) => [...words, '--resume', 'latest'],
}

const inEvents = ({ input, cached, cacheWrite, output, reasoning }: Tokens): Json => ({
  input,
  cached,
  cache_write: cacheWrite,
  cache_write_1h: 0,
  output,
  reasoning,
})

const minus = (a: Tokens, b: Tokens): Tokens =>
  tokens({
    input: a.input - b.input,
    cached: a.cached - b.cached,
    cacheWrite: a.cacheWrite - b.cacheWrite,
    output: a.output - b.output,
    reasoning: a.reasoning - b.reasoning,
  })

test.each(installedHosts())('%s: cost is what the model said, once, subagents included', async (name) => {
  const project = spine()
  // Only Anthropic's format tells what was written to the cache.
  const cacheWrite = name === 'claude' ? 10 : 0
  const model = await modelServer(
    oneOf(
      dialogue('and again', [say('done again', { input: 5, cached: 6, output: 4 })]),
      dialogue('count the sheep', [
        act({ shell: 'echo 1 > sheep.txt' }, { input: 11, cached: 22, output: 33, reasoning: 3 }),
        say('one sheep', { input: 7, cached: 9, output: 3 }),
      ]),
      dialogue('make a note', [
        {
          parts: [{ text: 'I will do both' }, { shell: 'echo a > a.txt' }, { shell: 'echo b > b.txt' }],
          tokens: tokens({ input: 100, cached: 1000, cacheWrite, output: 20, reasoning: 5 }),
        },
        act({ subagent: 'count the sheep' }, { input: 200, cached: 2000, output: 30, reasoning: 6 }),
        ...WAITS[name],
        say('done with it', { input: 300, cached: 3000, output: 40 }),
      ]),
    ),
  )
  const host = prepareHost(name, { project, model })
  const { env } = host

  const first = await project.run(
    'heimdall',
    ['run', '--agent', 'amber-otter', '--', ...host.headless('make a note')],
    { env },
  )
  expect(first.code, first.stdout + first.stderr).toBe(0)
  expect(project.read('sheep.txt')).toBe('1\n')
  const said = model.said()
  const [run = ''] = project.runs()
  const booked = ofType(project.events(run), 'model_usage').map((event) => event['usage'] as Json)
  const unpriced = name === 'gemini' ? ['gemini-2.5-pro'] : []
  expect(booked.at(-1)?.['total']).toMatchObject({ tokens: inEvents(said), unpriced, unread: 0 })
  // The only one that counts in dollars itself.
  const own = /"total_cost_usd":([\d.]+)/.exec(first.stdout)?.[1]
  const total = booked.at(-1)?.['total'] as Json | undefined
  if (name === 'claude') expect(total?.['usd']).toBeCloseTo(Number(own), 9)
  // Each reply is one booking, whatever number of lines tells of it.
  const replies = model.exchanges.filter(({ reply }) => reply !== undefined)
  expect(booked.map((usage) => usage['tokens']).toSorted(byText)).toEqual(
    replies.map(({ reply }) => inEvents((reply as Reply).tokens)).toSorted(byText),
  )
  expect(booked.every((usage) => usage['source'] === 'runtime' && usage['host'] === name)).toBe(true)
  expect(booked.filter((usage) => usage['is_subagent'] === true)).toHaveLength(
    replies.filter(({ asked }) =>
      asked.turns.some(({ from, text }) => from === 'user' && text.includes('count the sheep')),
    ).length,
  )
  expect(new Set(booked.map((usage) => usage['host_session'])).size).toBe(1)

  // What npm test reads in place of the host, main session and subagent.
  const files = transcriptsIn(project.root, 0, env)
    .map(({ path }) => ({ path, lines: readFileSync(path, 'utf8').trimEnd().split('\n') }))
    .toSorted((a, b) => b.lines.length - a.lines.length)
  expect(files).toHaveLength(2)
  const { marks } = READERS[name]()
  for (const [at, { lines }] of files.entries())
    keepLines(
      name,
      at === 0 ? 'session.jsonl' : 'subagent.jsonl',
      lines.filter((line) => marks.some((mark) => line.includes(mark)) && line.length < 30_000),
      project,
    )
  expectSameVersion(name)

  // The session is resumed in a run of its own: what it had cost before is the first run's.
  const second = await project.run(
    'heimdall',
    ['run', '--agent', 'amber-otter', '--', ...AGAIN[name](host.headless('and again'))],
    { env },
  )
  expect(second.code, second.stdout + second.stderr).toBe(0)
  const resumed = project.runs().find((one) => one !== run) ?? ''
  const { run: facts } = (await project.json(['runs', 'show', resumed])) as { run: Json }
  expect(facts['cost']).toMatchObject({ messages: 1, tokens: inEvents(minus(model.said(), said)) })
})

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
