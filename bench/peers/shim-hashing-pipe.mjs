// A pipe that hashes what it passes on: a result's hash is in the record, whoever keeps it.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'

const [file, ...args] = process.argv.slice(2)
const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const hash = createHash('sha256')
process.stdin.pipe(child.stdin)
child.stdout.on('data', (chunk) => {
  if (!process.stdout.write(chunk)) {
    child.stdout.pause()
    process.stdout.once('drain', () => child.stdout.resume())
  }
  hash.update(chunk)
})
child.stdout.on('end', () => process.stdout.end())
