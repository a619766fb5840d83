// Whether anybody listens at a socket: a file can be lost or overwritten, but only a process that lives takes a connection.
import { connect } from 'node:net'
import { isErrno } from '../errors.ts'
import { LISTENER_ANSWER_MS } from '../limits.ts'

/**
 * A session greets whoever connects. The kernel takes connections on behalf of one that is stopped or busy, which counts
 * as well, and on behalf of one that was killed until the last of its threads has gone, which does not: that connection
 * is closed in a moment, without a greeting.
 */
export function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath)
    const timer = setTimeout(() => answer(true), LISTENER_ANSWER_MS)
    const answer = (isThere: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isThere)
    }
    socket.once('data', () => answer(true))
    socket.once('close', () => answer(false))
    socket.once('error', (error) => {
      // EAGAIN: so many wait already that there is no place left.
      if (isErrno(error, 'EAGAIN')) answer(true)
      // ECONNRESET: it stopped listening while we stood in line.
      else if (isErrno(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'ENOTSOCK', 'ENOTDIR', 'EACCES')) answer(false)
      else {
        clearTimeout(timer)
        reject(error)
      }
    })
  })
}
