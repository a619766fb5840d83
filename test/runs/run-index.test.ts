// The run index against the records themselves, read by brute force: whatever happens to records and index, nothing is lost and nothing is there twice.
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { INDEX_BAD_LINES_KEPT, INDEX_COUNTED_MAX } from '../../src/limits.ts'
import { behindOf, catchUp } from '../../src/runs/index/catch-up.ts'
import { EntryLines } from '../../src/runs/index/entry-lines.ts'
import { indexPath, openIndexToRead, removeIndex, type RunIndex } from '../../src/runs/index/run-index.ts'
import { INDEX_MIGRATIONS } from '../../src/runs/index/index-schema.ts'
import { type IndexEntry, planOf, type Search, search } from '../../src/runs/index/search.ts'
import { withFileLock } from '../../src/storage/file-lock.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import {
  BASE_MS,
  callEvents,
  callsIn,
  eventsIn,
  linesOf,
  type PlainCall,
  runStart,
  writeRecord,
} from '../support/event-records.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'

const note = (): void => undefined

function runsFolder(): string {
  const runsDir = join(temporaryFolder(), 'runs')
  fs.mkdirSync(runsDir)
  return runsDir
}

const update = (runsDir: string, more: object = {}): Promise<boolean> =>
  catchUp({ runsDir, clock: systemClock, note, ...more })

/** What the index knows, after it was brought up to date. */
async function asking<T>(runsDir: string, act: (index: RunIndex) => T, more: object = {}): Promise<T> {
  expect(await update(runsDir, more)).toBe(true)
  return reading(runsDir, act)
}

function reading<T>(runsDir: string, act: (index: RunIndex) => T): T {
  const index = openIndexToRead(indexPath(runsDir))
  if (index === undefined) throw new Error('there is no index')
  try {
    return act(index)
  } finally {
    index.close()
  }
}

const plain = ({ runId, callId, server, tool, decision, rule, reason, status }: IndexEntry): PlainCall => ({
  run: runId,
  callId: callId ?? '',
  ...(server === null ? {} : { server }),
  ...(tool === null ? {} : { tool }),
  ...(decision === null ? {} : { action: decision, rule, ...(reason === null ? {} : { reason }) }),
  ...(status === null ? {} : { status }),
})

const byId = (a: PlainCall, b: PlainCall): number => `${a.run} ${a.callId}`.localeCompare(`${b.run} ${b.callId}`)
const indexedCalls = (index: RunIndex): PlainCall[] => search(index, { order: 'oldest' }).map(plain).toSorted(byId)

function recordsOf(runsDir: string): string[] {
  return fs
    .readdirSync(runsDir)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(runsDir, name, 'events.jsonl'))
    .filter((path) => fs.existsSync(path))
}

const wantedCalls = (runsDir: string): PlainCall[] => recordsOf(runsDir).flatMap(callsIn).toSorted(byId)

test('LED-001: ten thousand events go in whole, under WAL, the database is sound and its indexes are used', async () => {
  const runsDir = runsFolder()
  for (const run of ['a', 'b'])
    writeRecord(runsDir, run, [
      runStart(run),
      ...Array.from({ length: 1_667 }, (_, n) =>
        callEvents(run, {
          callId: `${run}-${n}`,
          tool: `t${n % 9}`,
          atMs: n,
          ...(n % 10 === 0 ? { action: 'BLOCK', rule: 'r', reason: 'DENYLIST_MATCH', status: 'ERROR' } : {}),
        }),
      ).flat(),
    ])
  await asking(runsDir, (index) => {
    expect(index.records.all().reduce((sum, { events }) => sum + events, 0)).toBe(
      recordsOf(runsDir).flatMap(eventsIn).length,
    )
    expect(indexedCalls(index)).toEqual(wantedCalls(runsDir))
    expect(index.db.problems()).toEqual([])
    expect(index.db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    for (const wanted of [
      { run: 'a' },
      { agent: 'amber-otter' },
      { server: 'fake' },
      { tool: 't3' },
      { decision: 'BLOCK' },
      { rule: 'r' },
      { reason: 'DENYLIST_MATCH' },
      { status: 'ERROR' },
      { sinceMs: BASE_MS + 5 },
      { callId: 'a-7' },
      { type: 'run_start' },
    ]) {
      const [first] = planOf(index, { ...wanted, order: 'newest', limit: 10 })
      expect(first, JSON.stringify(wanted)).toMatch(/^SEARCH e USING INDEX/)
    }
    // Two names: what both have, or what the fewer have; and nothing that many have is sorted.
    for (const [wanted, plan] of [
      [{ run: 'a', rule: 'r' }, 'SEARCH e USING INDEX entries_by_run_and_rule (run=? AND rule=?)'],
      [{ run: 'a', type: 'run_start' }, 'SEARCH e USING INDEX entries_by_run_and_type (run=? AND type=?)'],
      [{ agent: 'amber-otter', rule: 'r' }, 'SEARCH e USING INDEX entries_by_rule (rule=?)'],
      [{ server: 'fake', tool: 't3' }, 'SEARCH e USING INDEX entries_by_tool (tool=?)'],
      [{ tool: 't*' }, 'SCAN e USING INDEX entries_by_time'],
    ] as const) {
      const [first, ...rest] = planOf(index, { ...wanted, order: 'newest', limit: 10 })
      expect(first, JSON.stringify(wanted)).toBe(plan)
      expect(rest.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
    }
  })
})

/** mulberry32: the same history for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

test('whatever happens to the records, the index has each call once, as it stands in them; made anew it is the same', async () => {
  for (let seed = 1; seed <= scaled(6, 500); seed += 1) {
    const random = chance(seed)
    const runsDir = runsFolder()
    const open = new Map<string, unknown[]>()
    let n = 0
    const pathOf = (run: string): string => join(runsDir, run, 'events.jsonl')
    const append = (run: string, text: string): void => {
      const size = fs.statSync(pathOf(run)).size
      const last = Buffer.alloc(1)
      const fd = fs.openSync(pathOf(run), 'r+')
      if (size > 0) fs.readSync(fd, last, 0, 1, size - 1)
      fs.closeSync(fd)
      // A writer closes a torn tail first, as ours do.
      fs.appendFileSync(pathOf(run), last[0] === 0x0a || size === 0 ? text : `\n${text}`)
    }
    const deeds: ((run: string) => void | Promise<unknown>)[] = [
      // Events of calls, in pieces: some begin, some are decided, some end, and calls of several shims are interleaved.
      (run) => {
        const events = open.get(run) ?? []
        for (let i = random(4); i >= 0; i -= 1)
          events.push(
            ...callEvents(run, {
              callId: `c${(n += 1)}`,
              tool: `t${random(3)}`,
              atMs: n,
              ...(random(3) === 0
                ? { action: 'BLOCK', rule: `r${random(2)}`, reason: 'DENYLIST_MATCH', status: 'ERROR' }
                : {}),
            }),
          )
        const now = events.splice(0, random(events.length + 1))
        open.set(run, events)
        append(run, linesOf(now))
      },
      (run) =>
        append(
          run,
          [
            'garbage\n',
            '{"no":"type"}\n',
            '[1]\n',
            '{"type":"tool_call_start"}\n',
            '{"type":"x","call":7,"decision":"no","ts":4}\n',
          ][random(5)] ?? '',
        ),
      // Torn by a kill.
      (run) => fs.appendFileSync(pathOf(run), '{"type":"tool_call_st'),
      // Cut, or replaced by a shorter one.
      (run) => fs.truncateSync(pathOf(run), random(fs.statSync(pathOf(run)).size + 1)),
      // Pruned and begun anew under the same id, perhaps with the same inode; shorter or longer than before.
      (run) => {
        fs.rmSync(join(runsDir, run), { recursive: true })
        open.set(run, [])
        writeRecord(runsDir, run, [
          runStart(run, (n += 1)),
          ...Array.from({ length: random(9) }, () => callEvents(run, { callId: `c${(n += 1)}`, atMs: n })).flat(),
        ])
      },
      (run) => fs.rmSync(join(runsDir, run), { recursive: true }),
      () => update(runsDir),
      () => update(runsDir),
      () => fs.rmSync(indexPath(runsDir), { force: true }),
      () => fs.existsSync(indexPath(runsDir)) && fs.writeFileSync(indexPath(runsDir), 'not a database '.repeat(500)),
    ]
    for (let i = 0; i < 60; i += 1) {
      const run = `run-${random(4)}`
      if (!fs.existsSync(join(runsDir, run))) writeRecord(runsDir, run, [runStart(run, (n += 1))])
      await deeds[
        [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 6, 6, 7, random(30) === 0 ? 8 : 0, random(30) === 0 ? 9 : 0][random(16)] ?? 0
      ]?.(run)
    }
    // What begins with anything else than a start is no run of ours, whoever has cut it.
    for (const path of recordsOf(runsDir))
      if (eventsIn(path)[0]?.['type'] !== 'run_start') fs.rmSync(join(path, '..'), { recursive: true })
    const followed = await asking(runsDir, (index) => {
      expect(behindOf(index, runsDir)).toEqual({ bytes: 0, runs: 0 })
      expect(index.db.problems()).toEqual([])
      return indexedCalls(index)
    })
    expect(followed, `seed ${seed}`).toEqual(wantedCalls(runsDir).filter(({ callId }) => callId !== ''))
    expect(await asking(runsDir, indexedCalls, { anew: true }), `seed ${seed}, anew`).toEqual(followed)
  }
})

test('each filter, and any two of them, give what a reader of all records would pick', async () => {
  const runsDir = runsFolder()
  const random = chance(7)
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T
  for (const run of ['one', 'two', 'three'])
    writeRecord(runsDir, run, [
      runStart(run),
      ...Array.from({ length: 60 }, (_, n) =>
        callEvents(run, {
          callId: `${run}-${n}`,
          atMs: random(1_000),
          agent: pick(['ana', 'bo']),
          server: pick(['git', 'fs']),
          tool: pick(['push', 'pull', 'read']),
          action: pick(['ALLOW', 'BLOCK', 'THROTTLE']),
          rule: pick(['r1', 'r2', null]),
          reason: pick(['A', 'B']),
          status: pick(['OK', 'ERROR']),
        }),
      ).flat(),
    ])
  const events = recordsOf(runsDir).flatMap(eventsIn)
  const atMs = new Map(
    events
      .filter(({ type }) => type === 'tool_call_start')
      .map((event) => [
        event['call'].call_id as string,
        { at: Date.parse(event['ts'] as string), agent: event['agent_id'] as string },
      ]),
  )
  const calls = recordsOf(runsDir).flatMap(callsIn)
  const filters: [Partial<Search>, (call: PlainCall) => boolean][] = [
    [{ run: 'two' }, ({ run }) => run === 'two'],
    [{ run: 't*' }, ({ run }) => run.startsWith('t')],
    [{ agent: 'bo' }, ({ callId }) => atMs.get(callId)?.agent === 'bo'],
    [{ server: 'git' }, ({ server }) => server === 'git'],
    [{ tool: 'pu*' }, ({ tool }) => tool?.startsWith('pu') === true],
    [{ decision: 'BLOCK' }, ({ action }) => action === 'BLOCK'],
    [{ rule: 'r1' }, ({ rule }) => rule === 'r1'],
    [{ reason: 'B' }, ({ reason }) => reason === 'B'],
    [{ status: 'ERROR' }, ({ status }) => status === 'ERROR'],
    [{ sinceMs: BASE_MS + 400 }, ({ callId }) => (atMs.get(callId)?.at ?? 0) >= BASE_MS + 400],
    [{ untilMs: BASE_MS + 700 }, ({ callId }) => (atMs.get(callId)?.at ?? 0) < BASE_MS + 700],
    [{ tool: 'nobody' }, () => false],
  ]
  await asking(runsDir, (index) => {
    for (const [a, isA] of filters)
      for (const [b, isB] of filters) {
        if (Object.keys(a)[0] === Object.keys(b)[0] && a !== b) continue
        const wanted = calls.filter((call) => isA(call) && isB(call)).toSorted(byId)
        expect(
          search(index, { ...a, ...b, order: 'oldest' })
            .map(plain)
            .toSorted(byId),
          JSON.stringify([a, b]),
        ).toEqual(wanted)
      }
    const newest = search(index, { order: 'newest', limit: 25 }).map(({ atMs: at }) => at)
    expect(newest).toEqual(
      [...atMs.values()]
        .map(({ at }) => at)
        .toSorted((a, b) => b - a)
        .slice(0, 25),
    )
  })
})

test('text is found in arguments, results, hints and messages, whole or by its beginning, and nothing in it is an operator', async () => {
  const runsDir = runsFolder()
  writeRecord(runsDir, 'r', [
    runStart('r'),
    ...callEvents('r', {
      callId: 'args',
      args: '{"path":"src/api/users.ts","text":"first line\\nsecond Zeile \\u00fcber"}',
    }),
    ...callEvents('r', { callId: 'result', result: 'forty-two matches' }),
    ...callEvents('r', {
      callId: 'hint',
      action: 'REJECT_WITH_HINT',
      rule: 'budget',
      hint: 'ask for more tokens first',
    }),
    { ...runStart('r', 9), type: 'policy_loaded', run: undefined, ok: false, message: 'rule seventeen is broken' },
  ])
  await asking(runsDir, (index) => {
    const found = (text: string, type?: string): unknown[] =>
      search(index, { text, type, order: 'oldest' }).map(({ callId }) => callId)
    expect(found('users.ts')).toEqual(['args'])
    expect(found('src/api')).toEqual(['args'])
    expect(found('second line')).toEqual(['args'])
    expect(found('über')).toEqual(['args'])
    expect(found('match')).toEqual(['result'])
    expect(found('first')).toEqual(['args', 'hint'])
    expect(found('tokens ask')).toEqual(['hint'])
    expect(found('seventeen', 'policy_loaded')).toEqual([null])
    for (const text of [
      'nothing',
      'users NOT api',
      'NEAR(a b)',
      'text:users',
      '"unclosed',
      "'; DROP TABLE entries; --",
      'a*b*',
    ])
      expect(found(text)).toEqual([])
    expect(() => found('--')).toThrow(/1 to \d+ words/)
  })
})

test('words that many calls have, few or none, alone or with another question, give what a reader of all records would pick', async () => {
  const runsDir = runsFolder()
  const random = chance(3)
  const calls: { callId: string; run: string; at: number; tool: string; args: string }[] = []
  for (const run of ['one', 'two']) {
    const own = Array.from({ length: INDEX_COUNTED_MAX }, (_, n) => ({
      callId: `${run}-${n}`,
      run,
      at: random(1_000_000),
      tool: n % 400 === 3 ? 'rare' : 'usual',
      args: `{"path":"src/module-${n}.ts","ask":"callers ${n % 3 === 0 ? 'handled' : 'handling'} ${'x'.repeat(n % 80)}"}`,
    }))
    calls.push(...own)
    writeRecord(runsDir, run, [
      runStart(run),
      ...own.flatMap(({ callId, at, tool, args }) => callEvents(run, { callId, atMs: at, tool, args })),
    ])
  }
  /** Beginnings of words, as they stand in what was asked. */
  const has = (args: string, word: string): boolean =>
    new RegExp(`(?<![a-z0-9])${word.replaceAll(/[-.]/g, '[-.]')}`).test(args)
  await asking(runsDir, (index) => {
    for (const text of [
      'callers',
      'handle',
      'handl',
      'module-7.ts',
      'module-99',
      'x',
      'callers handled module-9',
      'module-12.ts handling',
      'nobody',
    ])
      for (const more of [
        {},
        { run: 'two' },
        { run: 't*' },
        { tool: 'rare' },
        { tool: 'usual', sinceMs: BASE_MS + 500_000 },
      ] as Partial<Search>[])
        for (const order of ['newest', 'oldest'] as const) {
          const sign = order === 'newest' ? -1 : 1
          const wanted = calls
            .filter(({ run, tool, at, args }) => {
              const isRun = more.run === undefined || run === 'two'
              return (
                isRun &&
                (more.tool ?? tool) === tool &&
                at >= (more.sinceMs ?? 0) - BASE_MS &&
                text.split(' ').every((word) => has(args, word))
              )
            })
            .toSorted((a, b) => sign * (a.at - b.at))
          const found = search(index, { text, ...more, order, limit: 40 })
          const what = JSON.stringify({ text, ...more, order })
          expect(
            found.map(({ atMs }) => atMs - BASE_MS),
            what,
          ).toEqual(wanted.slice(0, 40).map(({ at }) => at))
          const all = search(index, { text, ...more, order })
          expect(all.map(({ callId }) => `${callId}`).toSorted(), what).toEqual(
            wanted.map(({ callId }) => callId).toSorted(),
          )
        }
  })
})

test('bad lines are set aside and counted, events of a newer version go in as far as they are known', async () => {
  const runsDir = runsFolder()
  const path = writeRecord(runsDir, 'r', [runStart('r'), ...callEvents('r', { callId: 'a' })])
  const [start] = callEvents('r', { callId: 'new' })
  fs.appendFileSync(
    path,
    `garbage\n{"half":\n${linesOf([{ ...start, v: '7.0.0', unheard_of: [1] }])}{"type":"tool_call_de`,
  )
  const bad = { at: fs.readFileSync(path, 'utf8').indexOf('garbage'), bytes: 'garbage\n'.length }
  await asking(runsDir, (index) => {
    expect(index.records.find('r')).toMatchObject({ events: 5, bad_lines: 2, newer_events: 1 })
    expect(index.db.prepare('SELECT at, bytes FROM bad_lines').all()[0]).toEqual(bad)
    expect(indexedCalls(index).map(({ callId }) => callId)).toEqual(['a', 'new'])
    // A torn end is not something that is missing: nobody knows whether there will ever be more.
    expect(behindOf(index, runsDir)).toEqual({ bytes: 0, runs: 0 })
  })
  fs.appendFileSync(path, `\n${'x\n'.repeat(3 * INDEX_BAD_LINES_KEPT)}${linesOf(callEvents('r', { callId: 'z' }))}`)
  await asking(runsDir, (index) => {
    expect(index.records.find('r')).toMatchObject({ events: 8, bad_lines: 3 + 3 * INDEX_BAD_LINES_KEPT })
    expect(index.db.prepare('SELECT count(*) AS n FROM bad_lines').get()).toEqual({ n: INDEX_BAD_LINES_KEPT })
    expect(indexedCalls(index)).toHaveLength(3)
  })
})

test('an index that is broken, or of a newer version, is set aside and made anew; nothing is in the way', async () => {
  const runsDir = runsFolder()
  writeRecord(runsDir, 'r', [runStart('r'), ...callEvents('r', { callId: 'a' })])
  const path = indexPath(runsDir)
  const notes: string[] = []
  const more = { note: (line: string) => notes.push(line) }
  const spoils: (() => void | Promise<void>)[] = [
    () => fs.writeFileSync(path, 'no database at all '.repeat(500)),
    () => {
      const db = openDatabase(path, { migrations: [] })
      db.exec('PRAGMA user_version = 99')
      db.close()
    },
    // Whole at its beginning, and rubbish behind it.
    async () => {
      await update(runsDir)
      const db = openDatabase(path, { migrations: INDEX_MIGRATIONS })
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      db.close()
      const head = fs.readFileSync(path).subarray(0, 4_096)
      removeIndex(path)
      fs.writeFileSync(path, Buffer.concat([head, Buffer.alloc(60_000, 0x5a)]))
    },
  ]
  for (const spoil of spoils) {
    removeIndex(path)
    await spoil()
    notes.length = 0
    expect(await asking(runsDir, indexedCalls, more)).toHaveLength(1)
    expect(notes.join()).toContain('made anew')
    expect(fs.existsSync(`${path}.old`)).toBe(true)
  }
})

test('one process indexes at a time; the others answer from what is there and know how far behind that is', async () => {
  const runsDir = runsFolder()
  const path = writeRecord(runsDir, 'r', [runStart('r'), ...callEvents('r', { callId: 'a' })])
  await update(runsDir)
  const more = linesOf(callEvents('r', { callId: 'b' }))
  fs.appendFileSync(path, more)
  writeRecord(runsDir, 's', [runStart('s')])
  await withFileLock(indexPath(runsDir), async () => {
    expect(await update(runsDir, { waitMs: 0 })).toBe(false)
    reading(runsDir, (index) => {
      expect(indexedCalls(index)).toHaveLength(1)
      expect(behindOf(index, runsDir)).toEqual({ bytes: more.length + linesOf([runStart('s')]).length, runs: 2 })
    })
  })
  expect(await asking(runsDir, indexedCalls)).toHaveLength(2)
})

test('what is read of a record is never read again', async () => {
  const runsDir = runsFolder()
  const calls = ['a', 'b', 'c', 'd', 'e'].map((callId) => callEvents('r', { callId, tool: `tool-${callId}` }))
  const path = writeRecord(runsDir, 'r', [runStart('r'), ...calls.flat()])
  await update(runsDir)
  const read: number[] = []
  const onProgress = ({ bytes }: { readonly bytes: number }): number => read.push(bytes)
  await update(runsDir, { onProgress })
  expect(read).toEqual([])
  // A change in what was read already, of the same length, goes unseen: the proof that it is not read.
  const changed = fs.readFileSync(path, 'utf8').replaceAll('tool-c', 'tool-X')
  fs.writeFileSync(path, changed + linesOf(callEvents('r', { callId: 'f' })))
  const tools = await asking(runsDir, (index) => search(index, { order: 'oldest' }).map(({ tool }) => tool))
  expect(tools).toEqual(['tool-a', 'tool-b', 'tool-c', 'tool-d', 'tool-e', 'echo'])
})

test('a budget of time is kept between transactions, the latest record comes first, and the rest the next time', async () => {
  const runsDir = runsFolder()
  for (const run of ['old', 'new']) writeRecord(runsDir, run, [runStart(run), ...callEvents(run, { callId: run })])
  fs.utimesSync(join(runsDir, 'old', 'events.jsonl'), 1, 1)
  const first = await asking(
    runsDir,
    (index) => [indexedCalls(index).map(({ run }) => run), behindOf(index, runsDir).runs],
    { forMs: 0 },
  )
  expect(first).toEqual([['new'], 1])
  expect(await asking(runsDir, indexedCalls)).toHaveLength(2)
})

test('the lines of an entry are those of the record, byte for byte; none where another record has taken its place', async () => {
  const runsDir = runsFolder()
  const events = callEvents('r', { callId: 'ä', args: '{"text":"☃ snow"}' })
  const path = writeRecord(runsDir, 'r', [runStart('r'), ...events])
  const [entry] = await asking(runsDir, (index) => search(index, { order: 'oldest' }))
  if (entry === undefined) throw new Error('no entry')
  const lines = new EntryLines(() => path)
  expect(lines.linesOf(entry)).toEqual(events.map((event) => JSON.stringify(event)))
  lines.close()
  fs.writeFileSync(path, 'y'.repeat(fs.statSync(path).size))
  expect(lines.linesOf(entry)).toEqual([])
  fs.rmSync(path)
  lines.close()
  expect(lines.linesOf(entry)).toEqual([])
  lines.close()
})
