// Thumbnails: what the screens of sessions show now, drawn from the snapshots that they keep. Asked for, never followed: fifty sessions that write all day cost what fifty looks cost.
import { openConnection, type SessionConnection } from '../../client/connection.ts'
import { createTerminal } from '../../cells/terminal.ts'
import type { Clock } from '../../clock.ts'
import { HeimdallError } from '../../errors.ts'
import { HUB_SCREENS_AT_ONCE } from '../../limits.ts'
import { readKept } from '../../sessions/kept-output.ts'
import { sessionPaths } from '../../wire/session-paths.ts'
import type { Thumbnail } from '../contract.ts'
import { linesOf } from './screen-lines.ts'

export interface SessionPlace {
  readonly id: string
  readonly dir: string
  /** It has ended: what it showed last is all there will be. */
  readonly isOver?: boolean
}

interface Drawn {
  /** How far the session had written: the same number is the same screen. */
  readonly offset: number
  readonly screen: Thumbnail
}

/** Thumbnails and what is asked are of different lengths, and drawn apart. */
const keyOf = ({ dir, id }: SessionPlace, lines: number): string => `${dir}/${id} ${lines}`

/** Remembers what it has drawn, so that a session that was silent since then is asked and not drawn. */
export class Screens {
  readonly #clock: Clock
  readonly #drawn = new Map<string, Drawn>()
  /** Kept from one look to the next, by socket. Those who ask at once share the one that is being opened. */
  readonly #connections = new Map<string, Promise<SessionConnection>>()
  #isOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Those of all that can be drawn, in the order asked for. */
  async of(sessions: readonly SessionPlace[], lines: number): Promise<Thumbnail[]> {
    const found = new Map<string, Thumbnail>()
    const left = [...sessions]
    const drawNext = async (): Promise<void> => {
      for (let session = left.shift(); session !== undefined && !this.#isOver; session = left.shift()) {
        const screen = await this.#look(session, lines)
        if (screen !== undefined) found.set(session.id, screen)
      }
    }
    await Promise.all(Array.from({ length: HUB_SCREENS_AT_ONCE }, drawNext))
    return sessions.flatMap(({ id }) => found.get(id) ?? [])
  }

  /** For good: a look that is under way opens nothing that would outlive the hub. */
  close(): void {
    this.#isOver = true
    for (const socket of this.#connections.keys()) this.#drop(socket)
  }

  #drop(socket: string): void {
    const opened = this.#connections.get(socket)
    this.#connections.delete(socket)
    opened?.then(
      (connection) => connection.close(),
      () => undefined,
    )
  }

  async #look(session: SessionPlace, lines: number): Promise<Thumbnail | undefined> {
    const known = this.#drawn.get(keyOf(session, lines))
    if (session.isOver === true) return known?.screen ?? (await this.#lastOf(session, lines))
    const { socket } = sessionPaths(session.dir, session.id)
    try {
      const connection = await this.#connection(socket)
      const { offset_end: offset, cols, rows } = await connection.info()
      const isSame = known?.offset === offset && known.screen.cols === cols && known.screen.rows === rows
      if (isSame) return known.screen
      return this.#keep(keyOf(session, lines), offset, await this.#draw(session, lines))
    } catch (error) {
      // It ended, or does not answer: what it showed last is what there is to see.
      if (!(error instanceof HeimdallError)) throw error
      this.#drop(socket)
      return known?.screen ?? (await this.#lastOf(session, lines))
    }
  }

  #keep(key: string, offset: number, screen: Thumbnail): Thumbnail {
    this.#drawn.set(key, { offset, screen })
    return screen
  }

  #connection(socket: string): Promise<SessionConnection> {
    const open = this.#connections.get(socket)
    if (open !== undefined) return open
    const opening = openConnection(socket, { clock: this.#clock })
    this.#connections.set(socket, opening)
    return opening
  }

  async #draw({ id, dir }: SessionPlace, lines: number): Promise<Thumbnail> {
    const connection = await openConnection(sessionPaths(dir, id).socket, { clock: this.#clock })
    try {
      const { parts, ...drawn } = await snapshotOf(connection)
      return await this.#screen(id, drawn.size, parts, { lines, isWhole: drawn.isWhole })
    } finally {
      connection.close()
    }
  }

  /** Of a session that has ended, what was kept. */
  async #lastOf({ id, dir }: SessionPlace, lines: number): Promise<Thumbnail | undefined> {
    const kept = readKept(dir, id)
    if (kept === undefined) return undefined
    const { size, screen, bytes } = kept
    const drawn = await this.#screen(id, screen?.size ?? size, [screen?.drawing ?? bytes], {
      lines,
      isWhole: screen?.isWhole ?? true,
    })
    return this.#keep(keyOf({ id, dir }, lines), -1, drawn)
  }

  async #screen(
    id: string,
    size: { readonly cols: number; readonly rows: number },
    parts: readonly Buffer[],
    how: { readonly lines: number; readonly isWhole: boolean },
  ): Promise<Thumbnail> {
    const terminal = createTerminal({ ...size, scrollback: 0 })
    try {
      for (const part of parts) await new Promise<void>((resolve) => terminal.write(part, resolve))
      return {
        session_id: id,
        at: new Date(this.#clock.wallMs()).toISOString(),
        cols: size.cols,
        rows: size.rows,
        lines: linesOf(terminal, how.lines),
        is_whole: how.isWhole,
      }
    } finally {
      terminal.dispose()
    }
  }
}

interface Snapshot {
  readonly parts: readonly Buffer[]
  readonly size: { readonly cols: number; readonly rows: number }
  readonly isWhole: boolean
}

async function snapshotOf(connection: SessionConnection): Promise<Snapshot> {
  const parts: Buffer[] = []
  let size = { cols: 80, rows: 24 }
  let isWhole = true
  for await (const event of connection.subscribe({ from: 'snapshot', readOnly: true, replayEnd: true })) {
    if (event.type === 'snapshot') {
      size = { ...event.size }
      isWhole &&= event.isWhole
      parts.push(event.bytes)
      if (event.isLast) break
    } else if (event.type === 'output') parts.push(event.bytes)
    else if (event.type === 'replay-end' || event.type === 'exit') break
  }
  return { parts, size, isWhole }
}
