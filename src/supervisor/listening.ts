// Whether anybody listens at a socket: a file can be lost or overwritten, but only a process that lives takes a connection.
import { connect } from 'node:net'
import { isErrno } from '../errors.ts'

/** Taken by the kernel on the process's behalf, so a stopped or busy one counts as well. */
export function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => {
      // EAGAIN: so many wait already that there is no place left.
      if (isErrno(error, 'EAGAIN')) resolve(true)
      // ECONNRESET: it stopped listening while we stood in line.
      else if (isErrno(error, 'ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'ENOTSOCK', 'ENOTDIR', 'EACCES')) resolve(false)
      else reject(error)
    })
  })
}
