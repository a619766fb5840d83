// The socket of a session: who may connect, how many, and when a connection that only costs memory is closed.
import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../../clock.ts'
import { ignore } from '../../errors.ts'
import { CLIENTS_MAX, FRAME_DEADLINE_MS, PARTIAL_FRAME_BYTES_MAX } from '../../limits.ts'
import { type Admission, ClientConnection, type SessionDesk } from './client-connection.ts'

export class SessionServer {
  readonly #desk: SessionDesk
  readonly #clock: Clock
  #server: Server
  readonly #clients = new Set<ClientConnection>()
  #heldBytes = 0
  #deadline: Timer | undefined
  readonly #admission: Admission = {
    hold: (delta) => {
      this.#heldBytes += delta
      this.#watch()
      return delta <= 0 || this.#heldBytes <= PARTIAL_FRAME_BYTES_MAX
    },
    gone: (client) => {
      this.#clients.delete(client)
      this.#desk.gone(client)
    },
  }

  constructor(desk: SessionDesk, clock: Clock) {
    this.#desk = desk
    this.#clock = clock
    this.#server = this.#create()
  }

  #create(): Server {
    // The smallest high water mark: a socket says 'drain' as soon as the kernel has taken everything, and not before.
    return createServer({ highWaterMark: 1, pauseOnConnect: true, noDelay: false }, (socket) => this.#admit(socket))
  }

  get clients(): ReadonlySet<ClientConnection> {
    return this.#clients
  }

  /** Resolves when clients can connect. The file never exists with wider rights than 0600. */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.once('listening', () => {
        this.#server.off('error', reject)
        // While accepting: the connection is lost, the session is not.
        this.#server.on('error', ignore('EMFILE', 'ENFILE', 'ECONNABORTED', 'ENOBUFS', 'ENOMEM'))
        try {
          // A default access list of the folder counts instead of the umask.
          chmodSync(path, 0o600)
          resolve()
        } catch (error) {
          reject(error)
        }
      })
      const umask = process.umask(0o177)
      try {
        this.#server.listen(path, CLIENTS_MAX)
      } finally {
        process.umask(umask)
      }
    })
  }

  /**
   * Goes on under another path: who is connected stays, who comes later is found there. Not by a rename of the socket's
   * file: a server that closes removes the path that it was opened with, which may be another session's by then.
   */
  async move(path: string): Promise<void> {
    const before = this.#server
    this.#server = this.#create()
    try {
      await this.listen(path)
    } catch (error) {
      this.#server = before
      throw error
    }
    before.close()
  }

  /** Where the file of its socket was removed: nobody can connect to what has no name. */
  async listenAgain(path: string): Promise<void> {
    // First: a server that closes removes the path it was opened with.
    this.#server.close()
    this.#server = this.#create()
    await this.listen(path)
  }

  close(): void {
    this.#deadline?.cancel()
    this.#server.close()
    for (const client of this.#clients) client.socket.destroySoon()
  }

  #admit(socket: Socket): void {
    if (this.#clients.size >= CLIENTS_MAX && !this.#makeRoom()) {
      socket.destroy()
      return
    }
    const client = new ClientConnection(socket, this.#desk, this.#admission, () => this.#clock.monoMs())
    this.#clients.add(client)
    this.#watch()
  }

  /** The oldest connection that never sent a whole frame gives way. */
  #makeRoom(): boolean {
    for (const client of this.#clients)
      if (!client.hasSentFrame) {
        client.socket.destroy()
        this.#clients.delete(client)
        return true
      }
    return false
  }

  #watch(): void {
    this.#deadline ??= this.#clock.after(
      FRAME_DEADLINE_MS / 4,
      () => {
        this.#deadline = undefined
        const nowMs = this.#clock.monoMs()
        for (const client of this.#clients) {
          const begunMs = client.frameBegunMs
          if (begunMs !== undefined && nowMs - begunMs >= FRAME_DEADLINE_MS) client.socket.destroy()
        }
        if (this.#clients.size > 0) this.#watch()
      },
      { background: true },
    )
  }
}
