// hm export: a recording, the session's own or that of its run, or else the kept output, as asciicast v2.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionConnection } from '../../../client/connection.ts'
import { HeimdallError } from '../../../errors.ts'
import type { TerminalCover } from '../../../known-secrets/terminal-cover.ts'
import { runsDirOf } from '../../../paths.ts'
import type { KeptOutput } from '../../../wire/kept-output.ts'
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import { onDisk } from '../../../storage/faults.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import { outputPath } from '../../output-file.ts'
import type { exportCast } from '../../table/session.ts'
import { type Cast, coverCast, encodeCast, limitIdle, parseCast } from './cast.ts'
import { plural } from '../../render/fleet-text.ts'
import { locate, type Located } from './locate.ts'
import { reach } from './reach.ts'
import { runRecording } from './run-recording.ts'
import { coverOfStore } from './stored-secrets.ts'

export const run: Run<typeof exportCast> = async (context, { flags, args }) => {
  const file = args.file === undefined ? null : outputPath(context.resolve(args.file))
  const { cast, source, id } = await castOf(context, flags, args.id)
  const limited = flags['idle-limit'] === undefined ? cast : limitIdle(cast, flags['idle-limit'] / 1_000)
  const text = encodeCast(limited)
  if (file !== null) onDisk(file, () => writeFileSync(file, text, { mode: 0o600 }))
  const seconds = limited.events.at(-1)?.[0] ?? 0
  const data = { id, source, file, events: limited.events.length, seconds, ...(file === null ? { cast: text } : {}) }
  const summary = `Wrote ${plural(limited.events.length, 'event')} (${seconds} s, from the ${source}) to ${file}`
  return { data, text: file === null ? text.trimEnd() : summary }
}

async function castOf(
  context: Context,
  flags: InputOf<typeof exportCast>['flags'],
  id: string,
): Promise<{ cast: Cast; source: 'recording' | 'scrollback'; id: string }> {
  const located = await locate(context, flags, id)
  const cover = coverOfStore(context)
  const recorded = recordingOf(context, flags.from, located)
  if (recorded !== undefined) return { cast: coverCast(recorded, cover), source: 'recording', id: located.id }
  const reached = await reach(context, located)
  const cast =
    reached.connection === undefined
      ? pastCast(reached.kept, reached.located, cover)
      : await liveCast(reached.connection, cover)
  return { cast, source: 'scrollback', id: located.id }
}

function recordingOf(context: Context, from: string | undefined, located: Located): Cast | undefined {
  const path = from === undefined ? join(located.dir, `${located.id}.cast`) : context.resolve(from)
  const bytes = readFileIfThere(path)
  if (bytes !== undefined) return parseCast(bytes.toString('utf8'), path)
  if (from !== undefined)
    throw new HeimdallError('CAST_INVALID', `there is no recording at ${path}`, { hint: 'hm record makes one' })
  // Runs of another machine are not here.
  return located.elsewhere === undefined ? runRecording(runsDirOf(context.env), located) : undefined
}

function pastCast({ size, title, bytes }: KeptOutput, { exit, holder }: Located, cover: TerminalCover): Cast {
  const startedMs = exit === undefined ? (holder?.startedAtMs ?? 0) : Date.parse(exit.started_at)
  return oneEvent(cover.whole(bytes), { ...size, title, startedMs, command: exit?.command ?? holder?.command ?? [] })
}

async function liveCast(connection: SessionConnection, cover: TerminalCover): Promise<Cast> {
  try {
    const info = await connection.info()
    const parts: Buffer[] = []
    for await (const event of connection.subscribe({ from: 'scrollback', readOnly: true, replayEnd: true })) {
      if (event.type === 'output') parts.push(event.bytes)
      if (event.type === 'replay-end') break
    }
    return oneEvent(cover.whole(Buffer.concat(parts)), { ...info, startedMs: Date.parse(info.started_at) })
  } finally {
    connection.close()
  }
}

interface Described {
  readonly cols: number
  readonly rows: number
  readonly title: string
  readonly command: readonly string[]
  readonly startedMs: number
}

function oneEvent(bytes: Buffer, { cols, rows, title, command, startedMs }: Described): Cast {
  const text = bytes.toString('utf8')
  const timestamp = Math.floor(startedMs / 1_000)
  return {
    header: { version: 2, width: cols, height: rows, timestamp, command: command.join(' '), title },
    events: text === '' ? [] : [[0, 'o', text]],
  }
}
