// hm record: writes what a session puts out from now on as asciicast v2.
import { join } from 'node:path'
import { openRecording } from '../../../storage/recording.ts'
import type { Run } from '../../command.ts'
import { outputPath } from '../../output-file.ts'
import type { record } from '../../table/session.ts'
import { connectTo, locate } from './locate.ts'
import { coverOfStore } from './stored-secrets.ts'

export const run: Run<typeof record> = async (context, { flags, args }) => {
  const named = args.file === undefined ? undefined : outputPath(context.resolve(args.file))
  const located = await locate(context, flags, args.id)
  const connection = await connectTo(located)
  // Ctrl-C is how a recording is stopped, not a failure.
  const stopping = new AbortController()
  const stop = (): void => {
    stopping.abort()
    connection.close()
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const info = await connection.info()
    const file = named ?? join(located.dir, `${located.id}.cast`)
    const header = { size: info, command: info.command, title: info.title, cover: coverOfStore(context) }
    const recording = openRecording(file, header, context.clock)
    context.note(`Recording session ${located.id} to ${file}; Ctrl-C stops`)
    const startMs = context.clock.monoMs()
    let events = 0
    let exitCode: number | null = null
    try {
      let { cols, rows } = info
      const options = { from: 'snapshot', readOnly: true, events: true, gaps: true, redraw: true } as const
      for await (const event of connection.subscribe(options)) {
        events += 1
        if (event.type === 'output' || event.type === 'snapshot') recording.output(event.bytes)
        if (event.type === 'state' && (event.state.cols !== cols || event.state.rows !== rows)) {
          ;({ cols, rows } = event.state)
          recording.resize({ cols, rows })
        }
        if (event.type === 'exit') exitCode = event.code
      }
    } catch (error) {
      if (!stopping.signal.aborted) throw error
    } finally {
      recording.close()
    }
    const seconds = Math.round(context.clock.monoMs() - startMs) / 1_000
    const text = `Recorded ${seconds} s of session ${located.id} to ${file}`
    return { data: { id: located.id, file, events, seconds, exit_code: exitCode }, text }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    connection.close()
  }
}
