// Texts beside the log of a project, in its engine: packed, and sent in parts, each with the time of an answer.
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Annex } from '../coordination/annex.ts'
import { isErrno } from '../errors.ts'
import { FLEET_ANNEX_PART_BYTES } from '../limits.ts'
import type { Connection } from './engine-connection.ts'

export function createEngineAnnex(engine: Pick<Connection, 'ask'>, project: string): Annex {
  const partOf = (name: string, part: number): Promise<{ body: string; parts: number }[]> =>
    engine.ask(
      (sql) => sql<{ body: string; parts: number }[]>`SELECT encode(body, 'base64') AS body, parts FROM heimdall.annex
        WHERE project = ${project} AND name = ${name} AND part = ${part}`,
    )
  return {
    async lay(name, text) {
      const whole = gzipSync(text)
      const parts = Math.max(1, Math.ceil(whole.byteLength / FLEET_ANNEX_PART_BYTES))
      for (let part = 0; part < parts; part += 1) {
        const bytes = whole.subarray(part * FLEET_ANNEX_PART_BYTES, (part + 1) * FLEET_ANNEX_PART_BYTES)
        await engine.ask(
          (sql) => sql`SELECT heimdall.lay(${project}, ${name}, ${part}, ${parts},
            decode(${bytes.toString('base64')}::text, 'base64'))`,
        )
      }
    },
    async fetch(name, bytesMax) {
      const packed: Buffer[] = []
      for (let part = 0, parts = 1; part < parts; part += 1) {
        const [row] = await partOf(name, part)
        if (row === undefined) return undefined
        packed.push(Buffer.from(row.body, 'base64'))
        parts = Math.min(row.parts, Math.ceil((2 * bytesMax) / FLEET_ANNEX_PART_BYTES))
      }
      return unpacked(Buffer.concat(packed), bytesMax)
    },
    list: async () =>
      (
        await engine.ask(
          (sql) => sql<{ name: string; age: number }[]>`SELECT name,
            (extract(epoch FROM clock_timestamp() - max(at)) * 1000)::float8 AS age
            FROM heimdall.annex WHERE project = ${project} GROUP BY name ORDER BY name`,
        )
      ).map(({ name, age }) => ({ name, ageMs: age })),
    async clear(names) {
      // As a list of JSON: no name has anything in it that an array of PostgreSQL would read otherwise.
      await engine.ask(
        (sql) => sql`SELECT heimdall.clear(${project},
          ARRAY(SELECT json_array_elements_text(${JSON.stringify(names)}::text::json)))`,
      )
    },
  }
}

/** A member can lay anything there: what does not unpack, or to more than it may, is not there. */
function unpacked(bytes: Buffer, bytesMax: number): string | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax }).toString('utf8')
  } catch (error) {
    if (!isErrno(error, 'Z_DATA_ERROR', 'Z_BUF_ERROR', 'ERR_BUFFER_TOO_LARGE')) throw error
    return undefined
  }
}
