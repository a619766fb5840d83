// The least that a session in Node can be: one socket, one terminal, bytes from each to the other in OUTPUT and INPUT
// frames, with the same reads and writes as ours. `terminal-relay.mjs SOCKET COMMAND…`; nothing is kept, asked or told.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, Socket } from 'node:net'
import { ReadStream } from 'node:tty'

const HEADER_BYTES = 5
const OUTPUT = 0x81

const [path, file, ...args] = process.argv.slice(2)
const near = createRequire(createRequire(import.meta.url).resolve('@lydell/node-pty'))
const native = near(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`)
const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
const { fd } = native.fork(file, args, environment, '/', 200, 50, -1, -1, true, '', () => process.exit())

let client
const frame = Buffer.alloc(HEADER_BYTES + 4_095)
frame[0] = OUTPUT
const output = frame.subarray(HEADER_BYTES)
new ReadStream(fd, {
  onread: {
    buffer: output,
    callback: (bytes) => {
      if (client === undefined) return true
      frame.writeUInt32BE(bytes, 1)
      writeSync(client._handle.fd, frame.subarray(0, HEADER_BYTES + bytes))
      return true
    },
  },
}).resume()

const input = Buffer.alloc(64 << 10)
createServer({ pauseOnConnect: true }, (accepted) => {
  const handle = accepted._handle
  accepted._handle = null
  accepted.destroy()
  client = new Socket({
    handle,
    onread: {
      buffer: input,
      callback: (bytes) => {
        // Whole frames only, which is what the bench sends: SUBSCRIBE is empty, INPUT is written as it is.
        if (bytes > HEADER_BYTES) writeSync(fd, input.subarray(HEADER_BYTES, bytes))
        return true
      },
    },
  })
  writeSync(handle.fd, Buffer.of(0))
  client.resume()
}).listen(path, () => process.stdout.write('ready\n'))
