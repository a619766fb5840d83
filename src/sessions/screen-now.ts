// The screen of a session as it is now, or as it was when the session ended.
import { SHOWS_PLAIN } from '../cells/pen.ts'
import { inlineText, PlainText } from '../cells/plain-text.ts'
import type { SessionConnection } from '../client/connection.ts'
import { HeimdallError } from '../errors.ts'
import type { KeptOutput } from '../wire/kept-output.ts'
import type { ReachedSession } from './locate.ts'
import { ViewEmulator } from './view/emulator.ts'

export interface ScreenNow {
  readonly cols: number
  readonly rows: number
  readonly cursor: { readonly x: number; readonly y: number }
  readonly isAlternate: boolean
  /** False when the program drew faster than the screen was kept: cells may be missing. */
  readonly isWhole: boolean
  readonly title: string
  /** Plain text, and with colours. */
  readonly lines: readonly string[]
  readonly drawn: readonly string[]
}

export async function screenNow(reached: ReachedSession): Promise<ScreenNow> {
  const { emulator, isWhole, title } =
    reached.connection === undefined ? await lastScreen(reached.kept) : await liveScreen(reached.connection)
  const { screen, size } = emulator
  const drawn = emulator
    .draw({ start: 0, count: size.rows, left: 0, cols: size.cols, ground: 'text', shows: SHOWS_PLAIN })
    .map(({ text }) => text)
  return {
    ...size,
    cursor: { x: screen.cursorX, y: screen.cursorY },
    isAlternate: screen.type === 'alternate',
    isWhole,
    title: inlineText(title),
    lines: drawn.map((line) => new PlainText().push(line).trimEnd()),
    drawn,
  }
}

const IGNORED = { mode: () => undefined, show: () => undefined }

interface Drawn {
  readonly emulator: ViewEmulator
  readonly isWhole: boolean
  readonly title: string
}

/** Where no drawing of the screen was kept, the kept output draws it, as far back as it goes. */
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
  for await (const event of connection.subscribe({ from: 'snapshot', readOnly: true, replayEnd: true })) {
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
