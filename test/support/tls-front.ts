// TLS in front of a PostgreSQL, with a certificate for `localhost` that nobody has signed but itself.
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { TLSSocket } from 'node:tls'

const FOLDER = resolve('test/fixtures/tls')
/** What a client may trust. */
export const CERTIFICATE = join(FOLDER, 'localhost.crt')

export interface TlsFront {
  readonly port: number
  close(): void
}

export async function startTlsFront(target: number): Promise<TlsFront> {
  const [cert, key] = [readFileSync(CERTIFICATE), readFileSync(join(FOLDER, 'localhost.key'))]
  const sockets = new Set<Socket>()
  const server = createServer((plain) => {
    sockets.add(plain)
    plain.on('error', () => plain.destroy())
    // The client asks whether it may (eight bytes), and is told so with one letter.
    plain.once('data', () => {
      plain.write('S')
      const secure = new TLSSocket(plain, { isServer: true, cert, key })
      const back = connect(target, '127.0.0.1')
      sockets.add(back)
      for (const one of [secure, back]) one.on('error', () => one.destroy())
      secure.on('close', () => back.destroy())
      back.on('close', () => secure.destroy())
      secure.pipe(back)
      back.pipe(secure)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
