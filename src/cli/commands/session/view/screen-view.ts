// Attached in full: the session's screen drawn above a status line, keys sent to the session.
import type { SessionConnection } from '../../../../client/connection.ts'
import type { SessionEvent } from '../../../../client/events.ts'
import { columnAt, drawnColumn, type Shift } from '../../../../cells/clusters.ts'
import type { Shows } from '../../../../cells/pen.ts'
import { within } from '../../../../clock.ts'
import { HeimdallError } from '../../../../errors.ts'
import { OUTER_WIDTHS_MS, TYPED_BYTES_MAX } from '../../../../limits.ts'
import { sessionPaths } from '../../../../wire/session-paths.ts'
import type { Info, Size, TerminalColors } from '../../../../wire/payloads.ts'
import type { Context } from '../../../command.ts'
import type { AttachTarget } from '../attach.ts'
import { Clicks } from './clicks.ts'
import { clipboardSequence } from './clipboard.ts'
import { DetachKey } from './detach-key.ts'
import { ViewEmulator } from './emulator.ts'
import { FramePacer } from './frame-pacer.ts'
import { LookBack } from './look-back.ts'
import { MouseOwner } from './mouse-owner.ts'
import { askColors, OuterColors } from './outer-colors.ts'
import { OuterTerminal } from './outer-terminal.ts'
import { askWidths, OuterWidths } from './outer-widths.ts'
import { type Frame, Painter } from './painter.ts'
import { ShownState } from './shown-state.ts'
import { keyName } from './status-line.ts'
import { terminalShows } from './terminal-shows.ts'
import { type Leave, WayOut } from './view.ts'
import { type InputPiece, ViewKeys } from './view-keys.ts'
import { type Window, windowAround } from './window.ts'

/** Output that the emulator has not drawn yet; past it the session is read no faster than it is drawn. */
const PENDING_BYTES_MAX = 128 << 10

export async function screenView(
  context: Context,
  target: AttachTarget,
  connection: SessionConnection,
  detachKey: number,
): Promise<Leave> {
  const info = await connection.info()
  const outer = new OuterTerminal(context.stdin, context.stdout)
  const view = new ScreenView(context, target, connection, outer, info, detachKey)
  const wayOut = new WayOut()
  wayOut.onAnswer(target.answered)
  // Printed by Node before the process ends: it must not vanish with the alternate screen.
  process.once('uncaughtExceptionMonitor', outer.leave)
  outer.enter()
  try {
    const leave = await view.run(wayOut)
    outer.leave()
    if (leave.reason === 'exited') outer.write(view.remains())
    return { ...leave, id: view.id }
  } finally {
    wayOut.close()
    view.close()
    outer.leave()
    process.off('uncaughtExceptionMonitor', outer.leave)
  }
}

class ScreenView {
  readonly #target: AttachTarget
  readonly #connection: SessionConnection
  readonly #outer: OuterTerminal
  readonly #context: Context
  readonly #detachKey: number
  readonly #painter = new Painter()
  #shows: Shows
  readonly #emulator: ViewEmulator
  readonly #isPinned: boolean
  readonly #shown: ShownState
  readonly #pacer: FramePacer
  readonly #mouse = new MouseOwner()
  readonly #clicks = new Clicks()
  readonly #widths = new OuterWidths()
  #lookBack: LookBack | undefined
  /** Sequences for the outer terminal that go out with the next frame. */
  #outbox = ''
  /** As it was painted last, which is what the person sees; and where in its rows columns are not in their place. */
  #window: Window
  #shifts: readonly (readonly Shift[])[] = []
  #isSnapshotOpen = false
  #colors: TerminalColors | undefined
  /** Typed, and not yet taken by the session. */
  #typedBytes = 0
  #isLeaving = false
  #undo: (() => void)[] = []

  constructor(
    context: Context,
    target: AttachTarget,
    connection: SessionConnection,
    outer: OuterTerminal,
    info: Info,
    detachKey: number,
  ) {
    this.#context = context
    this.#target = target
    this.#connection = connection
    this.#outer = outer
    this.#detachKey = detachKey
    this.#shows = terminalShows(context.env, target.isSafe)
    this.#isPinned = info.pinned
    this.#shown = new ShownState(context.clock, info)
    this.#pacer = new FramePacer(context.clock, () => this.#paint())
    this.#emulator = new ViewEmulator({ cols: info.cols, rows: info.rows }, this.#wishes())
    this.#window = { left: 0, top: 0, cols: info.cols, rows: info.rows }
    const { elsewhere } = target
    if (elsewhere !== undefined)
      elsewhere.tell = (words) => {
        this.#shown.notice([words])
        this.#pacer.ask()
      }
  }

  /** A viewer that may not type has no use for the program's keyboard and mouse modes. */
  #wishes(): ConstructorParameters<typeof ViewEmulator>[1] {
    const { isReadOnly, isSafe } = this.#target
    const send = (sequence: string): void => {
      this.#outbox += sequence
    }
    const drop = (): void => undefined
    return {
      mode: isReadOnly ? drop : send,
      show: isSafe ? drop : send,
    }
  }

  get id(): string {
    return this.#shown.id
  }

  async run(wayOut: WayOut): Promise<Leave> {
    const { isReadOnly, from } = this.#target
    this.#listen(wayOut)
    const ask = (isReadOnly ? '' : askColors(this.#context.env)) + askWidths(this.#context.env, this.#outer.rows)
    this.#outer.write(ask)
    const answeredBy = this.#context.clock.monoMs() + (ask === '' ? 0 : OUTER_WIDTHS_MS)
    if (!isReadOnly) await this.#fit()
    const events = this.#connection.subscribe({
      // Whoever has started the session sees it from its first byte.
      from: typeof from === 'number' ? from : 'snapshot',
      readOnly: isReadOnly,
      events: true,
      viewer: true,
      gaps: true,
      redraw: true,
    })
    void this.#follow(events, wayOut)
    this.#pacer.begin()
    const leave = await wayOut.left
    this.#isLeaving = true
    if (leave.reason !== 'SIGHUP') await this.#hearOut(answeredBy)
    return leave
  }

  /** What the terminal was asked it answers to us, and not to the shell that comes after. */
  async #hearOut(answeredBy: number): Promise<void> {
    const { clock } = this.#context
    const waitMs = answeredBy - clock.monoMs()
    if (waitMs > 0) await within(clock, waitMs, this.#widths.known)
  }

  #listen(wayOut: WayOut): void {
    const { stdin, stdout } = this.#context
    const key = new DetachKey(this.#detachKey)
    const keys = new ViewKeys()
    const lookBack = this.#lookBackHere()
    const outerColors = new OuterColors()
    const onData = (chunk: Buffer): void => {
      const { bytes, isDetach } = key.take(this.#widths.take(outerColors.take(chunk)))
      this.#tellColors(outerColors.colors, wayOut)
      this.#shows = { ...this.#shows, clusters: this.#widths.widths }
      const forProgram = keys.read(bytes).filter((piece) => !lookBack.take(piece, this.#tracking === undefined))
      this.#type(Buffer.concat(forProgram.map((piece) => this.#bytesOf(piece))), wayOut)
      if (isDetach) wayOut.leave({ reason: 'detached' })
    }
    const onEnd = (): void => wayOut.leave({ reason: 'end of input' })
    const onResize = (): void => {
      this.#painter.forget()
      lookBack.resize()
      if (!this.#target.isReadOnly) this.#fit().catch((error: Error) => wayOut.fail(error))
      this.#pacer.ask()
    }
    // It was paused when its colours were asked for before the session was started.
    stdin.on('data', onData).on('end', onEnd).on('error', onEnd).resume()
    stdout.on('resize', onResize)
    this.#undo.push(() => {
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd)
      stdout.off('resize', onResize)
    })
    wayOut.onSignal('SIGTERM', () => wayOut.leave({ reason: 'SIGTERM' }))
    wayOut.onSignal('SIGHUP', () => wayOut.leave({ reason: 'SIGHUP' }))
    wayOut.onSignal('SIGINT', () => this.#type(Buffer.from([3]), wayOut))
    wayOut.onSignal('SIGTSTP', () => {
      this.#outer.suspend()
      process.kill(process.pid, 'SIGSTOP')
    })
    wayOut.onSignal('SIGCONT', () => {
      this.#outer.resume()
      this.#mouse.forget()
      this.#outbox += this.#target.isReadOnly ? '' : this.#emulator.modes
      this.#painter.forget()
      this.#pacer.ask()
    })
  }

  #lookBackHere(): LookBack {
    this.#lookBack = new LookBack({
      endpoint: () => this.#target.elsewhere ?? sessionPaths(this.#target.dir, this.id).socket,
      size: () => this.#size,
      window: () => this.#window,
      onChange: () => this.#pacer.ask(),
      onCopy: (text) => this.#copy(text),
      onFailure: ({ message }) => {
        this.#shown.notice([`the history cannot be read: ${message}`, 'the history cannot be read'])
        this.#pacer.ask()
      },
    })
    return this.#lookBack
  }

  /** Asked for by the person, who has seen how much it is. */
  #copy(text: string): void {
    const sequence = clipboardSequence(text)
    this.#outbox += sequence ?? ''
    const count = Array.from(text).length
    const done = sequence === undefined ? 'too much to copy' : 'handed to this terminal’s clipboard'
    const said = `${count} characters ${done}`
    this.#shown.notice([
      `${said}; Shift and drag selects without hm`,
      said,
      sequence === undefined ? 'too much' : 'copied',
    ])
  }

  /** Of this terminal, less the status line. */
  get #size(): Size {
    return { cols: this.#outer.cols, rows: Math.max(1, this.#outer.rows - 1) }
  }

  /** Once, and again when the terminal says that they have changed. */
  #tellColors(colors: TerminalColors | undefined, wayOut: WayOut): void {
    if (colors === undefined || this.#target.isReadOnly) return
    if (colors.foreground === this.#colors?.foreground && colors.background === this.#colors.background) return
    this.#colors = colors
    this.#connection.colors(colors).catch((error: Error) => wayOut.fail(error))
  }

  /** Which events of the mouse the program is to have from this viewer. */
  get #tracking(): number | undefined {
    return this.#target.isReadOnly ? undefined : this.#emulator.mouse.tracking
  }

  #bytesOf({ act, bytes }: InputPiece): Buffer {
    if (act?.is !== 'mouse') return bytes
    const seen = { ...act, x: columnAt(this.#shifts[act.y] ?? [], act.x) }
    return this.#clicks.bytes(seen, this.#emulator.mouse, this.#window)
  }

  /** Not held back by a program that does not read: the key that leaves must always be read. So it is bounded. */
  #type(bytes: Buffer, wayOut: WayOut): void {
    if (this.#target.isReadOnly || this.#isLeaving || bytes.length === 0) return
    this.#typedBytes += bytes.length
    if (this.#typedBytes > TYPED_BYTES_MAX) wayOut.fail(tooMuchTyped(this.#typedBytes))
    this.#connection
      .input(bytes)
      .then(() => {
        this.#typedBytes -= bytes.length
      })
      .catch((error: Error) => wayOut.fail(error))
  }

  /** The session takes the size of this terminal. */
  async #fit(): Promise<void> {
    if (!this.#isPinned) await this.#connection.resize(this.#size)
  }

  async #follow(events: AsyncIterable<SessionEvent>, wayOut: WayOut): Promise<void> {
    try {
      for await (const event of events) {
        if (event.type === 'exit') {
          await this.#emulator.write(Buffer.alloc(0))
          wayOut.leave({ reason: 'exited', code: event.code })
          return
        }
        if (event.type === 'error' && event.code === 'SESSION_DETACHED') wayOut.leave({ reason: 'sent away' })
        await this.#take(event)
      }
    } catch (error) {
      wayOut.fail(error as Error)
    }
  }

  async #take(event: SessionEvent): Promise<void> {
    switch (event.type) {
      case 'snapshot':
        if (!this.#isSnapshotOpen) this.#emulator.reset(event.size)
        this.#isSnapshotOpen = !event.isLast
        return await this.#draw(event.bytes)
      case 'output':
        return await this.#draw(event.bytes)
      case 'state':
        this.#shown.take(event.state)
        this.#emulator.resize(event.state)
        this.#pacer.ask()
        return
      case 'exit':
      case 'gap':
      case 'replay-end':
      case 'ack':
      case 'activity':
      case 'error':
      default:
        // A gap is followed by the redraw that was asked for; a refusal changes nothing on the screen.
        return
    }
  }

  async #draw(bytes: Buffer): Promise<void> {
    const drawn = this.#emulator.write(bytes).then(() => this.#pacer.ask())
    if (this.#emulator.pendingBytes > PENDING_BYTES_MAX) await drawn
  }

  #paint(): void {
    const { cols, rows } = this.#size
    const back = this.#lookBack?.view
    const frame =
      back === undefined
        ? this.#live(cols, rows)
        : { lines: [...back.lines(this.#shows), this.#shown.words(back.words, cols)], cursor: undefined }
    const outbox = this.#outbox + this.#mouse.settle(this.#tracking)
    this.#outbox = ''
    // A terminal of one row has none for the status line.
    const lines = frame.lines.slice(0, this.#outer.rows)
    this.#outer.write(outbox + this.#painter.paint({ ...frame, lines }))
  }

  #live(cols: number, rows: number): Frame {
    const { screen, size } = this.#emulator
    // Behind the last column it waits for what comes next, and is shown in that column. One that is hidden may be anywhere.
    const cursor = { x: Math.min(screen.cursorX, size.cols - 1), y: screen.cursorY }
    const { isCursorVisible } = this.#emulator
    this.#window = windowAround(isCursorVisible ? cursor : { ...cursor, x: 0 }, size, { cols, rows }, this.#window)
    const { left, top, rows: count } = this.#window
    const drawn = this.#emulator.draw({ start: top, left, count, cols, shows: this.#shows, ground: 'used' })
    this.#shifts = drawn.map(({ shifts }) => shifts)
    const lines = drawn.map(({ text, width }) => (width < cols ? `${text}\u001b[K` : text))
    while (lines.length < rows) lines.push('\u001b[K')
    const y = cursor.y - top
    const x = Math.min(cols - 1, drawnColumn(this.#shifts[y] ?? [], cursor.x - left))
    return { lines: [...lines, this.#status(cols, rows)], cursor: isCursorVisible ? { x, y } : undefined }
  }

  #status(cols: number, rows: number): string {
    if (this.#lookBack?.isReading === true)
      return this.#shown.words(['reading the history · Esc returns', 'reading · Esc'], cols)
    const { size } = this.#emulator
    const isOther = size.cols !== cols || size.rows !== rows
    return this.#shown.line(
      {
        isReadOnly: this.#target.isReadOnly,
        otherSize: isOther ? `${size.cols}x${size.rows}` : undefined,
        detachKey: keyName(this.#detachKey),
        hasColor: this.#context.style.color.isColorSupported,
      },
      cols,
    )
  }

  /** What the command left on its normal screen, for the terminal that it would have left it on. */
  remains(): string {
    const { normalScreen, size } = this.#emulator
    const count = normalScreen.baseY + size.rows
    const rows = { start: -normalScreen.baseY, left: 0, count, cols: size.cols, shows: this.#shows }
    const lines = this.#emulator.draw({ ...rows, ground: 'text' }, normalScreen).map(({ text }) => text)
    while (lines.at(-1) === '') lines.pop()
    // Rows that are one line stay one, which this terminal breaks where it has to.
    const isBroken = (y: number): boolean => y + 1 < lines.length && normalScreen.getLine(y + 1)?.isWrapped === true
    return lines.map((line, y) => (isBroken(y) ? line : `${line}\r\n`)).join('')
  }

  close(): void {
    this.#pacer.close()
    for (const undo of this.#undo) undo()
  }
}

function tooMuchTyped(bytes: number): HeimdallError {
  return new HeimdallError('SESSION_SILENT', `the program does not read; ${bytes} bytes that were typed still wait`, {
    hint: 'attach again when it does',
  })
}
