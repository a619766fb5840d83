// hm logs: what a session has put out, made safe to print; or the log of its supervisor.
import { readFileIfThere } from '../../../storage/atomic-file.ts'
import { HeimdallError } from '../../../errors.ts'
import { LOGS_REPLAY_BYTES_KEPT } from '../../../limits.ts'
import type { SessionEvent } from '../../../client/events.ts'
import type { KeptOutput } from '../../../wire/kept-output.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { PlainText } from '../../render/plain-text.ts'
import type { logs } from '../../table/session.ts'
import { locate, type Located } from './locate.ts'
import { reach } from './reach.ts'
import { TextOut } from './text-out.ts'

const STREAMED: Answer = { data: null, text: '', streamed: true }

export const run: Run<typeof logs> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const out = new TextOut(context.stdout)
  if (flags.supervisor === true && located.elsewhere !== undefined)
    throw new HeimdallError('USAGE', '--supervisor reads a file of the other machine', {
      hint: `ssh ${flags.host} hm logs ${located.id} --supervisor`,
    })
  if (flags.supervisor === true) return await supervisorLog(context, located, out)
  const printer = new LogPrinter(out, {
    isJson: context.json,
    isRaw: flags.raw === true,
    tail: flags.tail,
    note: context.note,
  })
  const reached = await reach(context, located)
  if (reached.connection === undefined) {
    for (const event of pastEvents(reached.kept, reached.located.exit?.exit_code)) await printer.print(event)
    return STREAMED
  }
  const { connection } = reached
  try {
    const events = connection.subscribe({ from: 'scrollback', readOnly: true, gaps: true, replayEnd: true })
    for await (const event of events) {
      const isDone = event.type === 'replay-end' && flags.follow !== true
      if (!(await printer.print(event)) || isDone) break
    }
    return STREAMED
  } finally {
    connection.close()
  }
}

function pastEvents({ bytes, offset }: KeptOutput, exitCode: number | undefined): SessionEvent[] {
  return [
    { type: 'output', bytes, offset },
    { type: 'replay-end', offset: offset + bytes.length },
    ...(exitCode === undefined ? [] : [{ type: 'exit', code: exitCode } as const]),
  ]
}

async function supervisorLog(context: Context, { id, paths }: Located, out: TextOut): Promise<Answer> {
  const bytes = readFileIfThere(paths.log)
  if (bytes === undefined)
    throw new HeimdallError('SESSION_NOT_FOUND', `session ${id} has no log at ${paths.log}`, {
      hint: 'it may be written elsewhere (log_file), or nowhere (/dev/null)',
    })
  const plain = new PlainText()
  const text = plain.push(bytes) + plain.end()
  if (!context.json) await out.write(text)
  else for (const line of text.split('\n').filter((l) => l !== '')) await out.writeLine({ type: 'log', text: line })
  return STREAMED
}

interface PrintOptions {
  readonly isJson: boolean
  readonly isRaw: boolean
  readonly tail: number | undefined
  readonly note: (line: string) => void
}

class LogPrinter {
  readonly #out: TextOut
  readonly #options: PrintOptions
  readonly #plain = new PlainText()
  /** With --tail: the replay, until its end is known. */
  #replay: Buffer[] | undefined

  constructor(out: TextOut, options: PrintOptions) {
    this.#out = out
    this.#options = options
    this.#replay = options.tail === undefined ? undefined : []
  }

  /** False when nobody reads any more. */
  async print(event: SessionEvent): Promise<boolean> {
    const { isJson, note } = this.#options
    switch (event.type) {
      case 'output':
        if (this.#replay === undefined) return await this.#write(event.bytes, event.offset)
        this.#replay = [...this.#replay, event.bytes]
        this.#trim()
        return true
      case 'replay-end':
        return await this.#endReplay()
      case 'gap':
        if (isJson) return await this.#out.writeLine({ type: 'gap', dropped_bytes: event.droppedBytes })
        note(`[${event.droppedBytes} bytes were dropped here]`)
        return true
      case 'exit':
        // The text that a cut-off character or line end still held back.
        await this.#endReplay()
        if (isJson) return await this.#out.writeLine({ type: 'exit', code: event.code })
        return await this.#out.write(this.#options.isRaw ? '' : this.#plain.end())
      case 'snapshot':
      case 'state':
      case 'ack':
      case 'activity':
      case 'error':
      default:
        return true
    }
  }

  /** Only the last lines will be printed, so no more than they and a little is kept. */
  #trim(): void {
    const parts = this.#replay ?? []
    if (parts.reduce((sum, { length }) => sum + length, 0) < LOGS_REPLAY_BYTES_KEPT) return
    this.#replay = [Buffer.from(lastLines(Buffer.concat(parts), this.#options.tail ?? 0))]
  }

  async #endReplay(): Promise<boolean> {
    if (this.#replay === undefined) return true
    const bytes = Buffer.concat(this.#replay)
    this.#replay = undefined
    return await this.#write(lastLines(bytes, this.#options.tail ?? 0), undefined)
  }

  async #write(bytes: Buffer, offset: number | undefined): Promise<boolean> {
    const { isJson, isRaw } = this.#options
    if (isRaw && !isJson) return await this.#out.write(bytes)
    const text = isRaw ? bytes.toString('utf8') : this.#plain.push(bytes)
    if (!isJson) return await this.#out.write(text)
    return await this.#out.writeLine({ type: 'output', ...(offset === undefined ? {} : { offset }), text })
  }
}

/** The last `count` lines; a final line break ends the last line, it does not begin another. */
function lastLines(bytes: Buffer, count: number): Buffer {
  let end = bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length
  for (let i = 0; i < count && end > 0; i += 1) end = bytes.lastIndexOf(0x0a, end - 1)
  return count === 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 1)
}
