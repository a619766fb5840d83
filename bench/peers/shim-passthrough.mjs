// The least that a proxy in Node can do: split lines, and send each one on.
import { spawn } from 'node:child_process'

const [file, ...args] = process.argv.slice(2)
const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })

function forwardLines(from, to) {
  let carry
  from.on('data', (chunk) => {
    const bytes = carry === undefined ? chunk : Buffer.concat([carry, chunk])
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      to.write(bytes.subarray(start, end + 1))
      start = end + 1
    }
    carry = start < bytes.length ? bytes.subarray(start) : undefined
  })
  from.on('end', () => to.end())
}

forwardLines(process.stdin, child.stdin)
forwardLines(child.stdout, process.stdout)
