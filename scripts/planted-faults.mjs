// The proofs proved: plants one fault at a time in a copy of the tree, and sees whether the tests that should find it do.
//
//   npm run faults                    all of scripts/faults.json
//   npm run faults -- wrong-rule-order token-not-checked
//   npm run faults -- --soak          the tests at soak size
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const words = process.argv.slice(2)
const isSoak = words.includes('--soak')
const names = words.filter((word) => !word.startsWith('--'))
const all = JSON.parse(readFileSync('scripts/faults.json', 'utf8'))
const chosen = names.length === 0 ? all : all.filter(({ name }) => names.includes(name))
const unknown = names.filter((name) => !all.some((fault) => fault.name === name))
if (unknown.length > 0) {
  console.error(`no fault ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

// Said of all at once and before anything runs: code that has changed takes its fault along.
const stale = chosen.filter(
  ({ file, from }) => !existsSync(file) || readFileSync(file, 'utf8').split(from).length !== 2,
)
if (stale.length > 0) {
  for (const { name, file } of stale)
    console.error(`${name} cannot be planted: its text is not, or not only once, in ${file}`)
  console.error('write it anew in scripts/faults.json, for the code as it is now')
  process.exit(2)
}

const copy = mkdtempSync(join(tmpdir(), 'hm-faults-'))
// The PostgreSQL of the tests is another user's where root runs them, and is read through here.
chmodSync(copy, 0o755)
/** The tests of the fault that is planted: whoever stops this stops them. */
let running
const over = () => rmSync(copy, { recursive: true, force: true })
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    const end = () => {
      over()
      process.exit(130)
    }
    // Asked, not killed: what the tests have started is theirs to end.
    if (running?.kill('SIGTERM')) running.once('exit', end)
    else end()
  })

let missed = 0
try {
  // What git knows and what is new in the work tree, with the changes that are in it: never the work tree itself.
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '')
  for (const path of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(path, join(copy, path))
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  // Some tests ask git; the copy is a repository of its own.
  execFileSync('git', ['init', '--quiet'], { cwd: copy })
  // Tests that fail without a fault would find every one.
  const { status, said } = await runTests([...new Set(chosen.flatMap(({ tests }) => tests))])
  if (status === 0) {
    const rows = []
    for (const fault of chosen) rows.push(await plant(fault))
    console.log(`\n${rows.filter(({ isFound }) => isFound).length} of ${rows.length} faults were found`)
    missed = rows.filter(({ isFound }) => !isFound).length
  } else {
    missed = chosen.length
    console.error(`${said.slice(-4_000)}\nthe tests fail without a fault: nothing was planted`)
  }
} finally {
  over()
}
process.exitCode = missed === 0 ? 0 : 1

async function plant({ name, means, file, from, to, tests }) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  const begun = performance.now()
  const { status, said } = await runTests(tests)
  writeFileSync(path, text)
  // A build that failed, or a file without tests, has found nothing.
  const failing = /(?:✗|×|FAIL)\s+(.*)/.exec(said)?.[1] ?? ''
  const isFound = status === 1 && /Tests .*\d+ failed/.test(said)
  const seconds = ((performance.now() - begun) / 1_000).toFixed(0)
  console.log(`${isFound ? 'found ' : 'MISSED'}  ${name.padEnd(30)} ${seconds.padStart(4)} s  ${means}`)
  if (isFound) console.log(`        by ${failing.trim()}`)
  else if (status !== 0) console.log(said.slice(-2_000))
  return { name, isFound }
}

async function runTests(tests) {
  running = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...tests], {
    cwd: copy,
    env: { ...process.env, ...(isSoak && { HEIMDALL_SOAK: '1' }) },
    stdio: ['ignore', 'pipe', 'ignore'],
    // A fault that makes the tests hang was not found by them: they have limits of their own.
    timeout: 30 * 60_000,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  running.stdout.setEncoding('utf8').on('data', (piece) => (stdout += piece))
  const [status] = await once(running, 'close')
  return { status, said: stripped(stdout) }
}

function stripped(text) {
  // oxlint-disable-next-line no-control-regex -- colours of the test runner
  return text.replaceAll(/\u001B\[[0-9;]*m/g, '')
}
