// Snapshots of a project's state in the engine: made now and then, and what a new copy begins with. Any member can put one there, so a copy believes none that does not fit.
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { EntryPlace } from '../coordination/shared-log.ts'
import { makeStore, type NewStore } from '../coordination/sqlite/whole-state.ts'
import { HeimdallError } from '../errors.ts'
import {
  FLEET_SNAPSHOT_EVERY,
  FLEET_SNAPSHOT_MAKING_MS,
  FLEET_SNAPSHOT_PART_BYTES,
  FLEET_STATE_BYTES_MAX,
} from '../limits.ts'
import type { AskEngine, Sql } from './engine-connection.ts'
import { ENGINE_VERSION } from './engine-schema.ts'
import { FORMAT } from './log-version.ts'
import { PACKED_BYTES_MAX, packedState } from './packed-state.ts'

/** One every so many entries: whoever joins after it needs no more than that many. One that is being made counts. */
export async function keepIfDue(
  ask: AskEngine,
  project: string,
  path: string,
  every = FLEET_SNAPSHOT_EVERY,
): Promise<boolean> {
  // Tables of another version are for programs of that version.
  const [row] = await ask(
    (sql) => sql<{ behind: string }[]>`SELECT p.seq - coalesce((SELECT max(s.seq) FROM heimdall.snapshots s
      WHERE s.project = p.id
        AND (s.is_whole OR s.begun > clock_timestamp() - ${FLEET_SNAPSHOT_MAKING_MS} * interval '1 ms')), 0) AS behind
      FROM heimdall.projects p WHERE p.id = ${project} AND p.engine_version = ${ENGINE_VERSION}`,
  )
  if (Number(row?.behind ?? 0) < every) return false
  await keepState(ask, project, path)
  return true
}

/** In parts, each with the time of an answer: a state may be larger than a line is fast. Parts of two makings never mix. */
export async function keepState(ask: AskEngine, project: string, path: string): Promise<void> {
  const { at, packed } = await packedState(path)
  const making = randomBytes(8).toString('hex')
  const parts = Math.ceil(packed.byteLength / FLEET_SNAPSHOT_PART_BYTES)
  for (let part = 0; part < parts; part += 1) {
    const bytes = packed.subarray(part * FLEET_SNAPSHOT_PART_BYTES, (part + 1) * FLEET_SNAPSHOT_PART_BYTES)
    await ask(
      (sql) => sql`SELECT heimdall.keep(${project}, ${making}, ${at.seq}, ${at.id}, ${FORMAT}, ${part}, ${parts},
        decode(${bytes.toString('base64')}::text, 'base64'))`,
    )
  }
}

/**
 * From the newest snapshot that is one; else from the first entry, where the engine still has it. Returns the places of
 * those that are none.
 */
export async function makeFromEngine(
  ask: AskEngine,
  project: string,
  path: string,
  made: Omit<NewStore, 'state' | 'at'>,
): Promise<number[]> {
  const refused: number[] = []
  for (const at of await ask((sql) => snapshotsOf(sql, project)))
    try {
      makeStore(path, { ...made, at, state: await readState(ask, project, at) })
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

interface Kept extends EntryPlace {
  readonly making: string
  readonly parts: number
}

/** Whole ones, the newest first. */
async function snapshotsOf(sql: Sql, project: string): Promise<Kept[]> {
  const rows = await sql<(Omit<Kept, 'seq'> & { seq: string })[]>`SELECT seq, id, making, parts FROM heimdall.snapshots
    WHERE project = ${project} AND is_whole ORDER BY seq DESC, begun, making`
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }))
}

async function readState(ask: AskEngine, project: string, { seq, making, parts }: Kept): Promise<string> {
  const packed: Buffer[] = []
  let bytes = 0
  for (let part = 0; part < parts; part += 1) {
    const [row] = await ask(
      (sql) => sql<{ body: string }[]>`SELECT encode(body, 'base64') AS body FROM heimdall.snapshot_parts
        WHERE project = ${project} AND seq = ${seq} AND making = ${making} AND part = ${part}`,
    )
    if (row === undefined)
      throw new HeimdallError('STORE_BUSY', 'the snapshot was replaced by newer ones while it was read', {
        hint: 'run the command again',
      })
    const body = Buffer.from(row.body, 'base64')
    bytes += body.byteLength
    if (bytes > PACKED_BYTES_MAX) throw noSnapshot(seq)
    packed.push(body)
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
