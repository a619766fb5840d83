// What a decision takes with counters in memory and with those that shims of a run share.
import { join } from 'node:path'
import { compileBundle } from '../../src/policy/bundle/compile.ts'
import { openPolicy } from '../../src/policy/decide/plan.ts'
import { CallArguments } from '../../src/shim/call/call-arguments.ts'
import { memoryState, sharedState } from '../../src/shim/policy-state.ts'
import { openDatabase } from '../../src/storage/sqlite.ts'
import { POLICY } from './shim-policy.ts'

/** Each measures the time of a decision, in microseconds; the last one of what its counters cost at the least. */
export interface CounterTimes {
  readonly shared: () => number
  readonly memory: () => number
  readonly bare: () => number
}

export async function countersOf(folder: string): Promise<CounterTimes> {
  const policy = openPolicy(await compileBundle(JSON.stringify(POLICY), { name: 'bench' }), {
    env: 'dev',
    agent_id: 'a',
    client: 'custom',
  })
  const plan = policy.planFor('bench', 'write_file')
  const run = join(folder, 'run')
  const states = {
    shared: sharedState(run, { bootId: 'bench', monoMs: performance.now() }),
    memory: memoryState(),
  }
  const calls = 3_000
  const timed = (act: (n: number) => void): number => {
    const before = performance.now()
    for (let n = 0; n < calls; n += 1) act(n)
    return ((performance.now() - before) * 1_000) / calls
  }
  const time = (name: keyof typeof states): number =>
    timed((n) => {
      const args = new CallArguments(Buffer.from(`{"path":"/repo/${n}","force":false}`), 0)
      const nowMs = performance.now()
      states[name].decide(plan, args, nowMs)
      states[name].endTurn(nowMs)
    })
  const bare = bareTransactions(folder)
  return { shared: () => time('shared'), memory: () => time('memory'), bare: () => timed(bare) }
}

/** What nobody who shares counters on a disk can leave out: a lock, four cells read and written, a commit. */
function bareTransactions(folder: string): (n: number) => void {
  const db = openDatabase(join(folder, 'bare.db'), {
    migrations: [
      'CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT NOT NULL, expires_ms REAL NOT NULL) WITHOUT ROWID',
    ],
    pageBytes: 1_024,
  })
  db.exec('PRAGMA synchronous = OFF')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const read = db.prepare('SELECT cell FROM cells WHERE key IN (?, ?, ?, ?)')
  const write = db.prepare(
    'INSERT INTO cells VALUES (?, ?, 0), (?, ?, 0), (?, ?, 0), (?, ?, 0) ON CONFLICT (key) DO UPDATE SET cell = excluded.cell',
  )
  const commit = db.prepare('COMMIT')
  return (n) => {
    begin.run()
    read.all('calls', 'cost', 'rate', `loop ${n}`)
    write.run('calls', `[${n}]`, 'cost', `[${n}]`, 'rate', `[${n},0]`, `loop ${n}`, '[1,0]')
    commit.run()
  }
}
