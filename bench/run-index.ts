// The run index: how fast it takes events in, against a bare loop of prepared inserts on the same SQLite; and how its answers grow with what is in it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/clock.ts'
import { catchUp } from '../src/runs/index/catch-up.ts'
import { indexPath, openIndexToRead, removeIndex, type RunIndex } from '../src/runs/index/run-index.ts'
import { search, type Search } from '../src/runs/index/search.ts'
import { openDatabase } from '../src/storage/sqlite.ts'
import { type Comparison, type Figure, runBench, type Runs } from './support/bench.ts'
import { recordOf, writeRuns } from './support/records.ts'

const CALLS_OF_RUN = 3_333

const note = (line: string): void => console.log(line)

async function ingest(runsDir: string): Promise<void> {
  removeIndex(indexPath(runsDir))
  await catchUp({ runsDir, clock: systemClock, note })
}

/** What anybody would write who has the events in memory and wants them in SQLite: one row each, with the columns that are asked for most. */
function bareInserts(path: string, lines: readonly string[]): void {
  const db = openDatabase(path, {
    migrations: [
      'CREATE TABLE events (id INTEGER PRIMARY KEY, ts TEXT, run_id TEXT, type TEXT, call_id TEXT, event TEXT)',
    ],
  })
  db.exec('PRAGMA synchronous = NORMAL')
  const insert = db.prepare('INSERT INTO events (ts, run_id, type, call_id, event) VALUES (?, ?, ?, ?, ?)')
  db.transaction(() => {
    for (const line of lines)
      insert.run(
        '2026-10-01T00:00:00.000Z',
        '01M7JJ2NEXMD45Y88K00000000',
        'tool_call_end',
        '01M7JJ00000000000000000000',
        line,
      )
  })
  db.close()
}

const INGESTION: readonly Figure<'perSecond' | 'cpuUs'>[] = [
  {
    of: 'perSecond',
    what: 'events taken in',
    unit: 'events/s',
    goals: { 'bare prepared inserts': { atLeast: 0.5 } },
  },
  // What a busy machine cannot falsify: both sides are this process.
  { of: 'cpuUs', what: 'processor time of an event taken in', unit: 'µs' },
]

function ingestion(folder: string): Runs<'perSecond' | 'cpuUs'> {
  const runs = 10
  const runsDir = writeRuns(join(folder, 'ingest'), { runs, callsOfRun: CALLS_OF_RUN })
  const lines = Array.from({ length: runs }, (_, run) => recordOf(run, CALLS_OF_RUN).split('\n').slice(0, -1)).flat()
  const path = join(folder, 'bare.db')
  const run = (act: () => void | Promise<void>) => async (): Promise<{ perSecond: number; cpuUs: number }> => {
    const before = performance.now()
    const cpu = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(cpu)
    const perSecond = (lines.length / (performance.now() - before)) * 1_000
    return { perSecond, cpuUs: (user + system) / lines.length }
  }
  return {
    rounds: 7,
    ours: { name: 'records read, indexed, searchable', run: run(() => ingest(runsDir)) },
    peers: [
      {
        name: 'bare prepared inserts',
        run: run(() => {
          removeIndex(path)
          bareInserts(path, lines)
        }),
      },
    ],
    figures: INGESTION,
  }
}

const QUESTIONS: Readonly<Record<string, Search>> = {
  'refused calls, the newest 50': { decision: 'BLOCK', order: 'newest', limit: 50 },
  'calls of one tool on one server': { tool: 'tool_11', server: 'git', order: 'newest', limit: 50 },
  'calls of one agent in an hour': {
    agent: 'amber-otter-0',
    sinceMs: Date.UTC(2026, 9, 1),
    untilMs: Date.UTC(2026, 9, 1) + 3_600_000,
    order: 'oldest',
    limit: 50,
  },
  'calls of one run by a rule': { run: '01M7JJ2NEXMD45Y88K00000000', rule: 'no-writes-2', order: 'newest', limit: 50 },
  'calls that speak of a file': {
    text: 'module-1234.ts',
    run: '01M7JJ2NEXMD45Y88K00000000',
    order: 'newest',
    limit: 50,
  },
}

type Indexed = () => Promise<RunIndex>

function question(what: string, wanted: Search, large: Indexed, small: Indexed): Comparison {
  const microseconds = (indexed: Indexed) => async (): Promise<number> => {
    const index = await indexed()
    const before = performance.now()
    for (let n = 0; n < 20; n += 1) if (search(index, wanted).length === 0) throw new Error(`${what}: nothing found`)
    return ((performance.now() - before) / 20) * 1_000
  }
  return {
    what,
    unit: 'µs',
    rounds: 15,
    ours: { name: 'among 1,000,000 events', measure: microseconds(large) },
    peers: [{ name: 'among 10,000', measure: microseconds(small), goal: { atMost: 3 } }],
  }
}

await runBench({
  name: 'run-index',
  about: 'events of runs as shims write them, about 500 bytes each',
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), 'heimdall-bench-'))
    const opened: RunIndex[] = []
    /** Made when it is first asked: a million events take a while, and not every comparison needs them. */
    const indexOf = (name: string, runs: number): Indexed => {
      let making: Promise<RunIndex> | undefined
      const make = async (): Promise<RunIndex> => {
        const runsDir = writeRuns(join(folder, name), { runs, callsOfRun: CALLS_OF_RUN })
        await ingest(runsDir)
        const index = openIndexToRead(indexPath(runsDir))
        if (index === undefined) throw new Error('no index')
        opened.push(index)
        return index
      }
      return () => (making ??= make())
    }
    const small = indexOf('small', 1)
    const large = indexOf('large', 100)
    return {
      comparisons: [
        ingestion(folder),
        ...Object.entries(QUESTIONS).map(([what, wanted]) => question(what, wanted, large, small)),
      ],
      cleanup() {
        for (const index of opened) index.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
})
