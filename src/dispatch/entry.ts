// The process of a dispatched task, inside its session: runs what the order says and leaves the result beside it.
import { systemClock } from '../clock.ts'
import { runOrder } from './runner/run-order.ts'
import { terminalLines } from './runner/stopped.ts'

const [, , dir = ''] = process.argv

void runOrder(dir, {
  env: process.env,
  clock: systemClock,
  say: (text) => process.stdout.write(text),
  lines: (signal) => terminalLines(process.stdin, signal),
}).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(70)
  },
)
