// Attached in full: the session's screen drawn above a status line, keys sent to the session. From the terminal to the
// session it is `typed-keys.ts`, from the session to its screen `followed-session.ts`, from the screen to the terminal
// `screen-frames.ts`; here they are put together, and begin and end.
import type { SessionConnection } from '../../../../client/connection.ts'
import { within } from '../../../../clock.ts'
import { OUTER_WIDTHS_MS } from '../../../../limits.ts'
import { sessionPaths } from '../../../../wire/session-paths.ts'
import type { Info } from '../../../../wire/payloads.ts'
import type { Context } from '../../../command.ts'
import { takeInput } from '../../../stdin.ts'
import type { AttachTarget } from '../attach.ts'
import { clipboardSequence, clipboardWords } from './clipboard.ts'
import { ViewEmulator, type Wishes } from './emulator.ts'
import { FollowedSession } from './followed-session.ts'
import { FramePacer } from './frame-pacer.ts'
import { LookBack } from './look-back.ts'
import { askColors } from './outer-colors.ts'
import { OuterTerminal } from './outer-terminal.ts'
import { askWidths } from './outer-widths.ts'
import { remainsOf } from './remains.ts'
import { ScreenFrames } from './screen-frames.ts'
import { ShownState } from './shown-state.ts'
import { keyName } from './status-line.ts'
import { terminalShows } from './terminal-shows.ts'
import { TypedKeys } from './typed-keys.ts'
import { type Leave, WayOut } from './view.ts'

export async function screenView(
  context: Context,
  target: AttachTarget,
  connection: SessionConnection,
  detachKey: number,
): Promise<Leave> {
  const info = await connection.info()
  const outer = new OuterTerminal(context.stdin, context.stdout)
  const wayOut = new WayOut()
  wayOut.onAnswer(target.answered)
  const view = new ScreenView({ context, target, connection, outer, wayOut }, info, detachKey)
  // Printed by Node before the process ends: it must not vanish with the alternate screen.
  process.once('uncaughtExceptionMonitor', outer.leave)
  outer.enter()
  try {
    const leave = await view.run()
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

interface Ends {
  readonly context: Context
  readonly target: AttachTarget
  readonly connection: SessionConnection
  readonly outer: OuterTerminal
  readonly wayOut: WayOut
}

class ScreenView {
  readonly #ends: Ends
  readonly #isPinned: boolean
  readonly #shown: ShownState
  readonly #emulator: ViewEmulator
  readonly #lookBack: LookBack
  readonly #frames: ScreenFrames
  readonly #pacer: FramePacer
  readonly #keys: TypedKeys
  #undo: (() => void)[] = []

  constructor(ends: Ends, info: Info, detachKey: number) {
    const { context, target, connection, outer, wayOut } = ends
    const { isReadOnly, isSafe, elsewhere, onTyped } = target
    this.#ends = ends
    this.#isPinned = info.pinned
    const shown = (this.#shown = new ShownState(context.clock, info))
    const emulator = (this.#emulator = new ViewEmulator({ cols: info.cols, rows: info.rows }, this.#wishes()))
    const lookBack = (this.#lookBack = this.#lookBackHere())
    const about = { isReadOnly, detachKey: keyName(detachKey), hasColor: context.style.color.isColorSupported }
    const frames = (this.#frames = new ScreenFrames(
      { outer, emulator, shown, lookBack, about },
      terminalShows(context.env, isSafe),
    ))
    this.#pacer = new FramePacer(context.clock, () => frames.paint())
    this.#keys = new TypedKeys({ connection, emulator, frames, lookBack, wayOut, isReadOnly, onTyped }, detachKey)
    if (elsewhere !== undefined) elsewhere.tell = (words) => this.#say([words])
  }

  /** A viewer that may not type has no use for the program's keyboard and mouse modes. */
  #wishes(): Wishes {
    const { isReadOnly, isSafe } = this.#ends.target
    const send = (sequence: string): void => this.#frames.send(sequence)
    const drop = (): void => undefined
    return {
      mode: isReadOnly ? drop : send,
      show: isSafe ? drop : send,
    }
  }

  #lookBackHere(): LookBack {
    const { target, outer } = this.#ends
    return new LookBack({
      endpoint: () => target.elsewhere ?? sessionPaths(target.dir, this.id).socket,
      size: () => outer.screenSize,
      window: () => this.#frames.window,
      onChange: () => this.#pacer.ask(),
      onCopy: (text) => this.#copy(text),
      onFailure: ({ message }) => this.#say([`the history cannot be read: ${message}`, 'the history cannot be read']),
    })
  }

  /** Asked for by the person, who has seen how much it is. */
  #copy(text: string): void {
    const sequence = clipboardSequence(text)
    this.#frames.send(sequence ?? '')
    this.#shown.notice(clipboardWords(text, sequence !== undefined))
  }

  #say(words: readonly string[]): void {
    this.#shown.notice(words)
    this.#pacer.ask()
  }

  get id(): string {
    return this.#shown.id
  }

  async run(): Promise<Leave> {
    const { context, target, connection, outer, wayOut } = this.#ends
    const { isReadOnly, from } = target
    this.#listen()
    const ask = (isReadOnly ? '' : askColors(context.env)) + askWidths(context.env, outer.rows)
    outer.write(ask)
    const answeredBy = context.clock.monoMs() + (ask === '' ? 0 : OUTER_WIDTHS_MS)
    if (!isReadOnly) await this.#fit()
    const events = connection.subscribe({
      // Whoever has started the session sees it from its first byte.
      from: typeof from === 'number' ? from : 'snapshot',
      readOnly: isReadOnly,
      events: true,
      viewer: true,
      gaps: true,
      redraw: true,
    })
    const session = new FollowedSession({ emulator: this.#emulator, shown: this.#shown, pacer: this.#pacer, wayOut })
    void session.follow(events)
    this.#pacer.begin()
    const leave = await wayOut.left
    this.#keys.end()
    if (leave.reason !== 'SIGHUP') await this.#hearOut(answeredBy)
    return leave
  }

  /** What the terminal was asked it answers to us, and not to the shell that comes after. */
  async #hearOut(answeredBy: number): Promise<void> {
    const { clock } = this.#ends.context
    const waitMs = answeredBy - clock.monoMs()
    if (waitMs > 0) await within(clock, waitMs, this.#keys.answered)
  }

  #listen(): void {
    const { context, target, outer, wayOut } = this.#ends
    const { stdin, stdout } = context
    const onData = (chunk: Buffer): void => this.#keys.take(chunk)
    const onEnd = (): void => wayOut.leave({ reason: 'end of input' })
    const onResize = (): void => {
      this.#frames.forget()
      this.#lookBack.resize()
      if (!target.isReadOnly) this.#fit().catch((error: Error) => wayOut.fail(error))
      this.#pacer.ask()
    }
    stdout.on('resize', onResize)
    this.#undo.push(takeInput(stdin, onData, onEnd), () => stdout.off('resize', onResize))
    wayOut.onSignal('SIGTERM', () => wayOut.leave({ reason: 'SIGTERM' }))
    wayOut.onSignal('SIGHUP', () => wayOut.leave({ reason: 'SIGHUP' }))
    wayOut.onSignal('SIGINT', () => this.#keys.type(Buffer.from([3])))
    wayOut.onSignal('SIGTSTP', () => {
      outer.suspend()
      process.kill(process.pid, 'SIGSTOP')
    })
    wayOut.onSignal('SIGCONT', () => {
      outer.resume()
      this.#frames.takeBack()
      this.#pacer.ask()
    })
  }

  /** The session takes the size of this terminal. */
  async #fit(): Promise<void> {
    if (!this.#isPinned) await this.#ends.connection.resize(this.#ends.outer.screenSize)
  }

  remains(): string {
    return remainsOf(this.#emulator, this.#frames.shows)
  }

  close(): void {
    this.#pacer.close()
    for (const undo of this.#undo) undo()
  }
}
