// What the session tells, up to the viewer's own copy of its screen, no faster than that is drawn.
import { VIEW_PENDING_BYTES_MAX } from '../../../../limits.ts'
import type { SessionEvent } from '../../../../client/events.ts'
import type { ViewEmulator } from './emulator.ts'
import type { FramePacer } from './frame-pacer.ts'
import type { ShownState } from './shown-state.ts'
import type { WayOut } from './view.ts'

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

  /** Until the session ends, or is no longer heard; which of them is told to the way out. */
  async follow(events: AsyncIterable<SessionEvent>): Promise<void> {
    const { emulator, wayOut } = this.#parts
    try {
      for await (const event of events) {
        if (event.type === 'exit') {
          await emulator.write(Buffer.alloc(0))
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
