// Whether a server speaks TLS at all: PostgreSQL is asked with eight bytes, and says so with one letter.
import { connect } from 'node:net'
import { ENGINE_TLS_ANSWER_MS } from '../limits.ts'

const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex')
const NO = 'N'.charCodeAt(0)

/** Asked after a connection was hung up on: the driver goes on as if the answer were yes, and is hung up on. */
export function saysNoToTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ENGINE_TLS_ANSWER_MS })
    const end = (saysNo: boolean): void => {
      socket.destroy()
      resolve(saysNo)
    }
    socket.once('connect', () => socket.write(SSL_REQUEST))
    socket.once('data', (bytes) => end(bytes[0] === NO))
    // Who says nothing says neither.
    for (const silence of ['error', 'timeout', 'close'] as const) socket.once(silence, () => end(false))
  })
}
