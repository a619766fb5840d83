// A brief that is too large for an entry, over two machines: it lies beside the log, is fetched by whoever begins the task, goes with it, and moves with its project.
import { createHash, randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { connect } from '../../src/fleet/engine-connection.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { testEngine } from './engine.ts'
import { fleetAt, type Machine, workerOn } from './machines.ts'

const engine = testEngine()
const BYTES = 5_000_000

/** Nothing of it packs well, so that it goes in several parts; the words at its end say that all of it came. */
function longBrief(bytes: number): string {
  const end = ' and this is the end of it'
  return `${randomBytes(bytes)
    .toString('base64')
    .slice(0, bytes - end.length)}${end}`
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

async function inDatabase<T>(url: string, question: string): Promise<T> {
  const sql = await connect({ url, isPooled: false })
  try {
    const [row] = await sql.unsafe(question)
    return row as T
  } finally {
    await sql.end()
  }
}

const laidAt = async (url: string): Promise<number> =>
  (await inDatabase<{ n: number }>(url, 'SELECT count(DISTINCT name)::int AS n FROM heimdall.annex')).n

test('a brief of 5 MB is sent on one machine and read whole by a worker on another; no entry has it, and it goes with the task', async () => {
  const url = await engine.server.database()
  const [one, two] = (await fleetAt(url, 'one', 'two')) as [Machine, Machine]
  await workerOn(
    two,
    `sum=$(tail -c ${BYTES} "$HEIMDALL_BRIEF_FILE" | sha256sum | cut -c 1-64)
     printf '{"status":"done","tokens_spent":7,"reply":"%s"}' "$sum" > "$HEIMDALL_RESULT_FILE"`,
  )
  const brief = longBrief(BYTES)
  const file = one.project.write('../brief.txt', brief)
  const sent = await one.heimdall(`task add --id big --brief-file ${file} --read-only --wait`)
  expect(sent).toMatchObject({ ok: true, data: { state: 'done', result: { reply: hashOf(brief) } } })
  expect(JSON.stringify(sent.data).length).toBeLessThan(20_000)
  const { largest } = await inDatabase<{ largest: number }>(
    url,
    'SELECT max(octet_length(body)) AS largest FROM heimdall.entries',
  )
  expect(largest).toBeLessThan(20_000)
  // The orchestrator has ended with the command; what it may have left, the next one clears.
  await one.heimdall('task add --id small Greet --read-only --wait')
  expect(await laidAt(url)).toBe(0)
})

test('with its project a brief moves to a file, to one machine and to another engine; one that is lost or another is told', async () => {
  const [one, two] = (await fleetAt(await engine.server.database(), 'one', 'two')) as [Machine, Machine]
  const brief = longBrief(1_000_000)
  const file = one.project.write('../brief.txt', brief)
  for (const id of ['big', 'lost', 'forged'])
    expect(await one.heimdall(`task add --id ${id} --brief-file ${file} --read-only`)).toMatchObject({ ok: true })
  const state = one.project.path('../state')
  expect(await two.heimdall(`fleet export ${state}`)).toMatchObject({ ok: true })
  expect(one.project.read('../state')).toContain(brief)
  // What it brings along when it leaves goes to the next engine.
  expect(await two.heimdall('fleet leave')).toMatchObject({ ok: true })
  const other = await engine.server.database()
  expect(await two.heimdall('fleet create', other)).toMatchObject({ ok: true })
  expect(await laidAt(other)).toBe(3)
  // And so does what comes from a file.
  expect(await one.heimdall('fleet leave')).toMatchObject({ ok: true })
  expect(await one.heimdall(`fleet import ${state}`)).toMatchObject({ ok: true })
  expect(await one.heimdall(`fleet export ${state}-2`)).toMatchObject({ ok: true })
  expect(one.project.read('../state-2')).toContain(brief)

  await inDatabase(other, `DELETE FROM heimdall.annex WHERE name LIKE 'lost/%' AND part > 0`)
  // Whole and well packed, and not what was sent: whoever has the join line can lay what it likes.
  const others = gzipSync('do something else').toString('hex')
  await inDatabase(
    other,
    `WITH gone AS (DELETE FROM heimdall.annex WHERE name LIKE 'forged/%' AND part > 0)
     UPDATE heimdall.annex SET parts = 1, body = '\\x${others}' WHERE name LIKE 'forged/%' AND part = 0`,
  )
  await workerOn(
    two,
    `printf '{"status":"done","tokens_spent":7,"reply":"%s"}' "$(tail -c 10 "$HEIMDALL_BRIEF_FILE")" > "$HEIMDALL_RESULT_FILE"`,
  )
  const serving = startProgram([...launcher('heimdall'), 'worker', 'serve'], {
    cwd: two.project.root,
    env: two.project.env,
  })
  const seen = async (id: string, wanted: string): Promise<string> => {
    for (;;) {
      const { data } = await two.heimdall(`task show ${id}`)
      if (data['state'] === wanted) return JSON.stringify(data)
      expect(serving.child.exitCode).toBeNull()
    }
  }
  expect(await seen('big', 'done')).toContain('"reply":" end of it"')
  expect(await seen('lost', 'triage')).toContain('brief_missing')
  expect(await seen('forged', 'triage')).toContain('brief_missing')
})
