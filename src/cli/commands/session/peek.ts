// hm peek: the screen of a session as it is now.
import type { SessionConnection } from '../../../client/connection.ts'
import type { SessionEvent } from '../../../client/events.ts'
import { HeimdallError } from '../../../errors.ts'
import type { Run } from '../../command.ts'
import { inlineText, PlainText } from '../../render/plain-text.ts'
import type { peek } from '../../table/session.ts'
import type { KeptOutput } from '../../../wire/kept-output.ts'
import { locate } from './locate.ts'
import { reach } from './reach.ts'
import { SHOWS_PLAIN } from '../../../cells/pen.ts'
import { ViewEmulator } from './view/emulator.ts'

export const run: Run<typeof peek> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  const reached = await reach(context, located)
  try {
    const { emulator, isWhole, title } =
      reached.connection === undefined ? await lastScreen(reached.kept) : await liveScreen(reached.connection)
    if (!isWhole) context.note('note: the program drew faster than the screen was kept; some cells may be missing')
    const { screen, size } = emulator
    const drawn = emulator
      .draw({ start: 0, count: size.rows, left: 0, cols: size.cols, ground: 'text', shows: SHOWS_PLAIN })
      .map(({ text }) => text)
    const lines = drawn.map((line) => new PlainText().push(line).trimEnd())
    const isColored = flags.ansi === true || context.style.color.isColorSupported
    const shown = isColored ? [...drawn] : [...lines]
    while (shown.at(-1) === '') shown.pop()
    const data = {
      id: located.id,
      cols: size.cols,
      rows: size.rows,
      cursor: { x: screen.cursorX, y: screen.cursorY },
      alternate: screen.type === 'alternate',
      whole: isWhole,
      lines,
      title: inlineText(title),
      ended: reached.connection === undefined,
    }
    return { data, text: shown.join('\n') }
  } finally {
    reached.connection?.close()
  }
}

const IGNORED = { mode: ignored, show: ignored }

function ignored(): void {
  // A look changes nothing, neither here nor in the session.
}

interface Drawn {
  readonly emulator: ViewEmulator
  readonly isWhole: boolean
  readonly title: string
}

/** As it was left. Where no drawing of it was kept, the output draws it, as far as that goes back. */
async function lastScreen({ size, title, offset, bytes, screen }: KeptOutput): Promise<Drawn> {
  const emulator = new ViewEmulator(screen?.size ?? size, IGNORED)
  await emulator.write(screen?.drawing ?? bytes)
  return { emulator, isWhole: screen?.isWhole ?? offset === 0, title }
}

async function liveScreen(connection: SessionConnection): Promise<Drawn> {
  const { cols, rows, title } = await connection.info()
  const emulator = new ViewEmulator({ cols, rows }, IGNORED)
  let isFirst = true
  let isWhole = true
  const events: AsyncIterable<SessionEvent> = connection.subscribe({
    from: 'snapshot',
    readOnly: true,
    replayEnd: true,
  })
  for await (const event of events) {
    if (event.type === 'snapshot') {
      if (isFirst) emulator.reset(event.size)
      isFirst = false
      isWhole &&= event.isWhole
      await emulator.write(event.bytes)
      if (event.isLast) return { emulator, isWhole, title }
    } else if (event.type === 'output') await emulator.write(event.bytes)
    else if (event.type === 'replay-end' || event.type === 'exit') return { emulator, isWhole, title }
  }
  throw new HeimdallError('SESSION_LOST', 'the session sent no screen')
}
