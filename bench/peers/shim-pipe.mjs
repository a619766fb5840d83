// Two pipes and nothing else: the most that a proxy in Node can pass on.
import { spawn } from 'node:child_process'

const [file, ...args] = process.argv.slice(2)
const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
