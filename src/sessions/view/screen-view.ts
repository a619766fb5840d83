// The full view: draws the session’s screen above a status line and sends keys to the session. Puts `typed-keys.ts`,
// `screen-frames.ts` and the events of the session together.
import { takeInput } from '../../user-terminal.ts'
import type { SessionConnection } from '../../client/connection.ts'
import type { SessionEvent } from '../../client/events.ts'
import { within } from '../../clock.ts'
import { OUTER_ANSWER_MS, VIEW_PENDING_BYTES_MAX } from '../../limits.ts'
import type { Info } from '../../wire/payloads.ts'
import { sessionPaths } from '../../wire/session-paths.ts'
import { remainsOf, ViewEmulator, type TerminalRequests } from './emulator.ts'
import { LookBack } from './look-back.ts'
import { askColors, askWidths, terminalShows } from './outer-abilities.ts'
import { OuterTerminal } from './outer-terminal.ts'
import { FramePacer, ScreenFrames } from './screen-frames.ts'
import { keyName, ShownState } from './status-line.ts'
import { TypedKeys } from './typed-keys.ts'
import { type Leave, type Viewer, type ViewTarget, WayOut } from './view.ts'

export async function screenView(viewer: Viewer, target: ViewTarget, connection: SessionConnection): Promise<Leave> {
  const info = await connection.info()
  const outer = new OuterTerminal(viewer.stdin, viewer.stdout)
  const wayOut = new WayOut()
  wayOut.onAnswer(target.answered)
  const view = new ScreenView({ viewer, target, connection, outer, wayOut }, info)
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
  readonly viewer: Viewer
  readonly target: ViewTarget
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

  constructor(ends: Ends, info: Info) {
    const { viewer, target, connection, outer, wayOut } = ends
    const { isReadOnly, isSafe, remote, onTyped } = target
    const { detachKey, hasColor } = viewer
    this.#ends = ends
    this.#isPinned = info.pinned
    const shown = (this.#shown = new ShownState(viewer.clock, info))
    const emulator = (this.#emulator = new ViewEmulator({ cols: info.cols, rows: info.rows }, this.#requests()))
    const lookBack = (this.#lookBack = this.#lookBackHere())
    const about = { isReadOnly, detachKey: keyName(detachKey), hasColor }
    const frames = (this.#frames = new ScreenFrames(
      { outer, emulator, shown, lookBack, about },
      terminalShows(viewer.env, isSafe),
    ))
    this.#pacer = new FramePacer(viewer.clock, () => frames.paint())
    this.#keys = new TypedKeys(
      { clock: viewer.clock, connection, emulator, frames, lookBack, wayOut, isReadOnly, onTyped },
      detachKey,
    )
    if (remote !== undefined) remote.tell = (words) => this.#say([words])
  }

  /** A read-only viewer needs no keyboard and mouse modes of the program. */
  #requests(): TerminalRequests {
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
      endpoint: () => target.remote ?? sessionPaths(target.dir, this.id).socket,
      size: () => outer.screenSize,
      window: () => this.#frames.window,
      onChange: () => this.#pacer.ask(),
      onDrag: () => this.#say(['hold Shift to select text', 'Shift selects']),
      onFailure: ({ message }) => this.#say([`the history cannot be read: ${message}`, 'the history cannot be read']),
    })
  }

  #say(words: readonly string[]): void {
    this.#shown.notice(words)
    this.#pacer.ask()
  }

  get id(): string {
    return this.#shown.id
  }

  async run(): Promise<Leave> {
    const { viewer, target, connection, outer, wayOut } = this.#ends
    const { isReadOnly, from } = target
    this.#listen()
    const ask = (isReadOnly ? '' : askColors(viewer.env)) + askWidths(viewer.env, outer.rows)
    outer.write(ask)
    const answeredBy = viewer.clock.monoMs() + (ask === '' ? 0 : OUTER_ANSWER_MS)
    if (!isReadOnly) await this.#fit()
    const events = connection.subscribe({
      // After a start, from the first byte.
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
    const waitMs = answeredBy - viewer.clock.monoMs()
    // A late answer would be typed into the user's shell.
    if (leave.reason !== 'SIGHUP' && waitMs > 0) await within(viewer.clock, waitMs, this.#keys.answered)
    return leave
  }

  #listen(): void {
    const { viewer, target, outer, wayOut } = this.#ends
    const { stdin, stdout } = viewer
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

export interface FollowParts {
  readonly emulator: ViewEmulator
  readonly shown: ShownState
  readonly pacer: FramePacer
  readonly wayOut: WayOut
}

export class FollowedSession {
  readonly #parts: FollowParts
  #isSnapshotOpen = false

  constructor(parts: FollowParts) {
    this.#parts = parts
  }

  /** Until the session ends or the connection is lost; `wayOut` is told which. */
  async follow(events: AsyncIterable<SessionEvent>): Promise<void> {
    const { emulator, wayOut } = this.#parts
    try {
      for await (const event of events) {
        if (event.type === 'exit') {
          await emulator.write(Buffer.alloc(0))
          wayOut.leave({ reason: 'exited', code: event.code })
          return
        }
        if (event.type === 'error' && event.code === 'SESSION_DETACHED') wayOut.leave({ reason: 'disconnected' })
        await this.#take(event)
      }
    } catch (error) {
      wayOut.fail(error as Error)
    }
  }

  async #take(event: SessionEvent): Promise<void> {
    const { emulator, shown, pacer } = this.#parts
    switch (event.type) {
      case 'snapshot':
        if (!this.#isSnapshotOpen) emulator.reset(event.size)
        this.#isSnapshotOpen = !event.isLast
        return await this.#draw(event.bytes)
      case 'output':
        return await this.#draw(event.bytes)
      case 'state':
        shown.take(event.state)
        emulator.resize(event.state)
        pacer.ask()
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
    const { emulator, pacer } = this.#parts
    const drawn = emulator.write(bytes).then(() => pacer.ask())
    if (emulator.pendingBytes > VIEW_PENDING_BYTES_MAX) await drawn
  }
}
