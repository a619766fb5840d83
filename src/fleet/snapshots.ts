// Snapshots of a project's state in the engine: made now and then, and what a new copy begins with. Any member can put one there, so a copy believes none that does not fit.
import { gunzipSync, gzipSync } from 'node:zlib'
import type { EntryPlace } from '../coordination/shared-log.ts'
import { makeStore, type NewStore, wholeState } from '../coordination/sqlite/whole-state.ts'
import { HeimdallError } from '../errors.ts'
import { FLEET_SNAPSHOT_EVERY, FLEET_SNAPSHOT_PART_BYTES, FLEET_STATE_BYTES_MAX } from '../limits.ts'
import type { Connection, Sql } from './engine-connection.ts'
import { FORMAT } from './log-version.ts'

type Ask = Connection['ask']

/** One every so many entries: whoever joins after it needs no more than that many. */
export async function keepIfDue(
  ask: Ask,
  project: string,
  path: string,
  every = FLEET_SNAPSHOT_EVERY,
): Promise<boolean> {
  const [row] = await ask(
    (sql) => sql<{ behind: string }[]>`SELECT p.seq - coalesce(
      (SELECT max(s.seq) FROM heimdall.snapshots s WHERE s.project = p.id), 0) AS behind
      FROM heimdall.projects p WHERE p.id = ${project}`,
  )
  if (Number(row?.behind ?? 0) < every) return false
  await keepState(ask, project, path)
  return true
}

/** In parts, each with the time of an answer: a state may be larger than a line is fast. */
export async function keepState(ask: Ask, project: string, path: string): Promise<void> {
  const { at, text } = wholeState(path)
  const whole = gzipSync(text)
  const parts = Math.max(1, Math.ceil(whole.byteLength / FLEET_SNAPSHOT_PART_BYTES))
  for (let part = 0; part < parts; part += 1) {
    const bytes = whole.subarray(part * FLEET_SNAPSHOT_PART_BYTES, (part + 1) * FLEET_SNAPSHOT_PART_BYTES)
    await ask(
      (sql) =>
        sql`SELECT heimdall.keep(${project}, ${at.seq}, ${at.id}, ${FORMAT}, ${part}, ${parts}, decode(${bytes.toString('base64')}::text, 'base64'))`,
    )
  }
}

/**
 * From the newest snapshot that is one; else from the first entry, where the engine still has it. Returns the places of
 * those that are none.
 */
export async function makeFromEngine(
  ask: Ask,
  project: string,
  path: string,
  made: Omit<NewStore, 'state' | 'at'>,
): Promise<number[]> {
  const refused: number[] = []
  for (const at of await ask((sql) => snapshotsOf(sql, project)))
    try {
      makeStore(path, { ...made, at, state: await readState(ask, project, at.seq) })
      return refused
    } catch (error) {
      if (!(error instanceof HeimdallError) || !UNFIT.includes(error.code)) throw error
      refused.push(at.seq)
    }
  await ask((sql) => refuseTrimmed(sql, project, refused))
  makeStore(path, { ...made, state: undefined })
  return refused
}

/** A newer version than the one at the head of the log writes none: a column that nobody knows is made up as well. */
const UNFIT: readonly string[] = ['STORE_CORRUPT', 'FLEET_NEWER']

/** Whole ones, the newest first. */
async function snapshotsOf(sql: Sql, project: string): Promise<EntryPlace[]> {
  const rows = await sql<{ seq: string; id: string }[]>`SELECT seq, min(id) AS id FROM heimdall.snapshots
    WHERE project = ${project} GROUP BY seq HAVING count(*) = max(parts) ORDER BY seq DESC`
  return rows.map(({ seq, id }) => ({ seq: Number(seq), id }))
}

async function readState(ask: Ask, project: string, seq: number): Promise<string> {
  const packed: Buffer[] = []
  for (let part = 0, parts = 1; part < parts; part += 1) {
    const [row] = await ask(
      (sql) => sql<{ body: string; parts: number }[]>`SELECT encode(body, 'base64') AS body, parts
        FROM heimdall.snapshots WHERE project = ${project} AND seq = ${seq} AND part = ${part}`,
    )
    if (row === undefined)
      throw new HeimdallError('STORE_BUSY', 'the snapshot was replaced by newer ones while it was read', {
        hint: 'run the command again',
      })
    packed.push(Buffer.from(row.body, 'base64'))
    parts = row.parts
  }
  try {
    return gunzipSync(Buffer.concat(packed), { maxOutputLength: FLEET_STATE_BYTES_MAX }).toString('utf8')
  } catch (error) {
    throw noSnapshot(seq, error)
  }
}

async function refuseTrimmed(sql: Sql, project: string, [refused]: readonly number[]): Promise<void> {
  const [row] = await sql`SELECT 1 FROM heimdall.projects p WHERE p.id = ${project} AND (p.seq = 0 OR EXISTS
    (SELECT FROM heimdall.entries e WHERE e.project = p.id AND e.seq = 1 AND e.body IS NOT NULL))`
  if (row !== undefined) return
  if (refused !== undefined) throw noSnapshot(refused)
  throw new HeimdallError('FOLLOW_TOO_OLD', 'the engine has neither a snapshot nor the first entries of this project', {
    hint: 'heimdall fleet export on another member writes the state to a file',
  })
}

function noSnapshot(seq: number, cause?: unknown): HeimdallError {
  return new HeimdallError(
    'STORE_CORRUPT',
    `the snapshot at entry ${seq} is none that a version of Heimdall has written, and the engine has no entries from before it`,
    {
      hint: 'somebody with the join line has put it there; heimdall fleet leave on a member that has everything, then fleet create, makes a new fleet of it',
      details: { seq },
      cause,
    },
  )
}
