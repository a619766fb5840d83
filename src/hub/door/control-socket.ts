// The unix socket for commands of the same user. It is in the state folder (0700): no other user can connect, or listen in the place of a hub that was killed.
import { chmodSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { HeimdallError } from '../../errors.ts'
import { HUB_CONTROL_CONNECTIONS_MAX, HUB_REQUEST_MS, SOCKET_PATH_BYTES_MAX } from '../../limits.ts'
import { removeIfThere } from '../../storage/atomic-file.ts'

export interface ControlSocket {
  close(): Promise<void>
}

/** The caller holds the lock of the hub: a socket that is there is left from one that was killed. */
export async function openControl(path: string, answer: RequestListener): Promise<ControlSocket> {
  const bytes = Buffer.byteLength(path)
  if (bytes > SOCKET_PATH_BYTES_MAX)
    throw new HeimdallError(
      'SESSION_PATH_TOO_LONG',
      `socket path of ${bytes} bytes, limit ${SOCKET_PATH_BYTES_MAX}: ${path}`,
      { hint: 'set XDG_STATE_HOME to a shorter path' },
    )
  const server = createServer({ headersTimeout: HUB_REQUEST_MS, requestTimeout: HUB_REQUEST_MS }, answer)
  server.maxConnections = HUB_CONTROL_CONNECTIONS_MAX
  removeIfThere(path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
