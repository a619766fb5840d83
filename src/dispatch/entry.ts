// The process of a dispatched task, inside its session: runs what the order says and leaves the result beside it.
import { systemClock } from '../clock.ts'
import { runOrder } from './runner/run-order.ts'

const [, , dir = ''] = process.argv

void runOrder(dir, { env: process.env, clock: systemClock, say: (text) => process.stdout.write(text) }).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(70)
  },
)
