// The peer that does nothing but read: node-pty in Node. `bare-pty.mjs count BYTES COMMAND…` or `bare-pty.mjs hold COMMAND…`.
import pty from '@lydell/node-pty'

const [mode, ...rest] = process.argv.slice(2)
const [bytes, command] = mode === 'count' ? [Number(rest[0]), rest.slice(1)] : [0, rest]
const child = pty.spawn(command[0], command.slice(1), { encoding: null, cols: 200, rows: 50 })
let got = 0
let startedMs = 0
child.onData((chunk) => {
  got += chunk.length
  if (startedMs === 0 || got < bytes) return
  process.stdout.write(`${JSON.stringify({ got, ms: performance.now() - startedMs })}\n`)
  startedMs = 0
})
process.stdin.on('data', (line) => {
  got = 0
  startedMs = performance.now()
  child.write(line)
})
process.stdin.on('end', () => process.exit())
process.stdout.write('ready\n')
