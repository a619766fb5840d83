// hm export: a recording, or else the kept output, as asciicast v2.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../../errors.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import type { exportCast } from '../../table/session.ts'
import { type Cast, encodeCast, limitIdle, parseCast } from './cast.ts'
import { connectTo, locate, type Located } from './locate.ts'

export const run: Run<typeof exportCast> = async (context, { flags, args }) => {
  const { cast, source, id } = await castOf(context, flags, args.id)
  const limited = flags['idle-limit'] === undefined ? cast : limitIdle(cast, flags['idle-limit'] / 1_000)
  const text = encodeCast(limited)
  const file = args.file === undefined ? null : context.resolve(args.file)
  if (file !== null) writeFileSync(file, text, { mode: 0o600 })
  const seconds = limited.events.at(-1)?.[0] ?? 0
  const data = { id, source, file, events: limited.events.length, seconds, ...(file === null ? { cast: text } : {}) }
  const summary = `Wrote ${limited.events.length} events (${seconds} s, from the ${source}) to ${file}`
  return { data, text: file === null ? text.trimEnd() : summary }
}

async function castOf(
  context: Context,
  flags: InputOf<typeof exportCast>['flags'],
  id: string,
): Promise<{ cast: Cast; source: 'recording' | 'scrollback'; id: string }> {
  const located = await locate(context, flags, id)
  const path = flags.from === undefined ? join(located.dir, `${located.id}.cast`) : context.resolve(flags.from)
  const bytes = readFileIfThere(path)
  if (bytes !== undefined) return { cast: parseCast(bytes.toString('utf8'), path), source: 'recording', id: located.id }
  if (flags.from !== undefined)
    throw new HeimdallError('CAST_INVALID', `there is no recording at ${path}`, { hint: 'hm record makes one' })
  return { cast: await scrollbackCast(located), source: 'scrollback', id: located.id }
}

async function scrollbackCast(located: Located): Promise<Cast> {
  const connection = await connectTo(located)
  try {
    const info = await connection.info()
    const parts: Buffer[] = []
    for await (const event of connection.subscribe({ from: 'scrollback', readOnly: true, replayEnd: true })) {
      if (event.type === 'output') parts.push(event.bytes)
      if (event.type === 'replay-end') break
    }
    const text = Buffer.concat(parts).toString('utf8')
    return {
      header: {
        version: 2,
        width: info.cols,
        height: info.rows,
        timestamp: Math.floor(Date.parse(info.started_at) / 1_000),
        command: info.command.join(' '),
        title: info.title,
      },
      events: text === '' ? [] : [[0, 'o', text]],
    }
  } finally {
    connection.close()
  }
}
