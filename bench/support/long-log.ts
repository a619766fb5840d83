// A log of many entries, as a fleet has after weeks: claims that are granted and released, each entry with its event, made from one that a member has written.
import type { Sql } from '../../src/fleet/engine-connection.ts'

interface Body {
  readonly wall_ms: number
  readonly author: unknown
  readonly puts: readonly { readonly table: string; readonly row: Readonly<Record<string, unknown>> }[]
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

const AT_ONCE = 5_000

/** As an owner: after the last entry, which is a claim. */
export async function lengthenLog(sql: Sql, project: string, count: number): Promise<void> {
  const [last] = await sql<{ seq: string; format: number; member: string; body: string }[]>`
    SELECT seq, format, member, body FROM heimdall.entries WHERE project = ${project} ORDER BY seq DESC LIMIT 1`
  if (last === undefined) throw new Error('the log has no entry to take after')
  const head = Number(last.seq)
  const model = JSON.parse(last.body) as Body
  for (let from = 1; from <= count; from += AT_ONCE) {
    const entries = Array.from({ length: Math.min(AT_ONCE, count - from + 1) }, (_, i) => {
      const n = from + i
      return { seq: head + n, id: `made-${n}`, body: JSON.stringify(madeFrom(model, n)) }
    })
    await sql`INSERT INTO heimdall.entries (project, seq, id, format, member, body)
      SELECT ${project}, seq, id, ${last.format}, ${last.member}, body
      FROM json_to_recordset(${JSON.stringify(entries)}::text::json) AS x (seq bigint, id text, body text)`
  }
  await sql`UPDATE heimdall.projects SET seq = ${head + count}, entry_id = ${`made-${count}`} WHERE id = ${project}`
}

/** Odd ones claim, and the next one gives it back: what is held stays as much as it was. */
function madeFrom({ wall_ms: wallMs, author, puts, events }: Body, n: number): Body {
  const pair = Math.ceil(n / 2)
  const isRelease = n % 2 === 0
  return {
    wall_ms: wallMs + n,
    author,
    puts: puts.map(({ table, row }) => {
      if (table !== 'claims') return { table, row }
      const claim = { ...row, epoch: Number(row['epoch']) + pair, claim_id: `made-${pair}` }
      return { table, row: isRelease ? { ...claim, state: 'released' } : claim }
    }),
    events: events.map((event, i) => ({
      ...event,
      seq: Number(event['seq']) + n * events.length,
      id: `made-${n}-${i}`,
    })),
  }
}
