// The least that leaves a shim's record: each call parsed and hashed, as many bytes of events as ours written before it is
// sent on, each answer parsed. No rules, no counters, no look at ids, names or secrets, nothing redacted.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'

const [file, ...args] = process.argv.slice(2)
const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const record = openSync(process.env.RECORD, 'a')
/** Of a call: its start and decision, and its end. */
const BEFORE = Buffer.alloc(1_900, 'x')
const AFTER = Buffer.alloc(880, 'y')
const lines = Buffer.alloc(4 << 20)
let filled = 0

function put(template, said) {
  lines.set(template, filled)
  filled += template.length
  filled += lines.write(said, filled, 'latin1')
}

function flush() {
  if (filled > 0) writeSync(record, lines, 0, filled)
  filled = 0
}

function eachLine(from, onLine, onChunk) {
  let carry
  from.on('data', (chunk) => {
    const bytes = carry === undefined ? chunk : Buffer.concat([carry, chunk])
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      onLine(bytes.toString('utf8', start, end))
      start = end + 1
    }
    carry = start < bytes.length ? bytes.subarray(start) : undefined
    if (start > 0) onChunk(bytes.subarray(0, start))
  })
}

eachLine(
  process.stdin,
  (line) => {
    const { params } = JSON.parse(line)
    put(
      BEFORE,
      createHash('sha256')
        .update(JSON.stringify(params?.arguments ?? {}))
        .digest('hex'),
    )
  },
  (bytes) => {
    flush()
    child.stdin.write(bytes)
  },
)
eachLine(
  child.stdout,
  (line) => put(AFTER, String(JSON.parse(line).id)),
  // Ends are written with the calls that come next, as ours are.
  (bytes) => {
    process.stdout.write(bytes)
    if (filled > 1 << 16) flush()
  },
)
process.stdin.on('end', () => {
  flush()
  child.stdin.end()
})
child.stdout.on('end', () => process.stdout.end())
