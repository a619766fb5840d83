// The least that a session elsewhere can cost in Node: a process with the terminal behind a socket, and one that joins its standard streams to it. `bare-relay.mjs serve SOCKET COMMAND…`, `bare-relay.mjs join SOCKET`.
import { connect, createServer } from 'node:net'

const [mode, socket, ...command] = process.argv.slice(2)
if (mode === 'serve') {
  const { default: pty } = await import('@lydell/node-pty')
  const child = pty.spawn(command[0], command.slice(1), { encoding: null, cols: 80, rows: 24 })
  createServer((line) => {
    line.on('data', (chunk) => child.write(chunk))
    child.onData((chunk) => line.write(chunk))
  }).listen(socket, () => process.stdout.write('ready\n'))
} else {
  const line = connect(socket)
  process.stdin.pipe(line)
  line.pipe(process.stdout)
  line.on('connect', () => process.stdout.write('J')).on('close', () => process.exit())
}
