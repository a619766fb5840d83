// Runs the tests once and prints what they spend their time on: `npm run test:slow [-- FILTER…]`.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'

const ROWS = 40
const SAMPLE_MS = 250
const TICKS_PER_SECOND = 100
const NONE = { node: 0, cpuMs: 0, workerMs: 0, git: 0, other: 0 }
/** Started by their names, these are Node.js programs. */
const LAUNCHERS = readdirSync('bin')

const folder = mkdtempSync(join(tmpdir(), 'heimdall-slow-'))
const counts = join(folder, 'counts')
const report = join(folder, 'report.json')
// Tests start programs as other users too.
chmodSync(folder, 0o755)
mkdirSync(counts)
chmodSync(counts, 0o777)

const uptimeAtStart = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
const before = busySeconds()
const startedAt = performance.now()
const seen = new Map()
const sampling = setInterval(sample, SAMPLE_MS)
const vitest = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${report}`, ...process.argv.slice(2)],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--require ${resolve(import.meta.dirname, 'count-processes.cjs')}`,
      HEIMDALL_COUNT_FOLDER: counts,
    },
  },
)
const code = await new Promise((end) => vitest.once('close', end))
clearInterval(sampling)
const wallSeconds = (performance.now() - startedAt) / 1_000
const busy = busySeconds() - before

const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
const files = testResults.map(({ name, assertionResults, startTime, endTime }) => ({
  name: relative('.', name),
  seconds: (endTime - startTime) / 1_000,
  tests: assertionResults,
}))
const started = startsByFile()

const failed = files.flatMap(({ name, tests }) =>
  tests.filter(({ status }) => status === 'failed').map(({ fullName }) => `FAILED ${name} > ${fullName}`),
)
for (const line of failed) console.log(line)

const row = (name, cells) => `${name.padEnd(48)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
console.log(`\n${row(`slowest ${ROWS} files`, ['seconds', 'tests', 'own CPU', 'node', 'node CPU', 'git', 'other'])}`)
for (const { name, seconds, tests } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, ROWS)) {
  const { node, cpuMs, workerMs, git, other } = started.get(name) ?? NONE
  const cpu = [workerMs, cpuMs].map((ms) => (ms / 1_000).toFixed(1))
  console.log(row(name, [seconds.toFixed(1), tests.length, cpu[0], node, cpu[1], git, other]))
}
console.log(`\nslowest ${ROWS} tests`)
const tests = files.flatMap(({ name, tests: own }) =>
  own.map(({ fullName, duration }) => ({ name, fullName, seconds: (duration ?? 0) / 1_000 })),
)
for (const { name, fullName, seconds } of tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, ROWS))
  console.log(`${seconds.toFixed(1).padStart(7)}  ${name} > ${fullName}`)

const total = [...started.values()].reduce(
  (sum, one) => ({
    node: sum.node + one.node,
    cpuMs: sum.cpuMs + one.cpuMs,
    workerMs: sum.workerMs + one.workerMs,
    git: sum.git + one.git,
    other: sum.other + one.other,
  }),
  NONE,
)
const capacity = wallSeconds * availableParallelism()
const share = (seconds) =>
  `${seconds.toFixed(0).padStart(7)} s ${((100 * seconds) / capacity).toFixed(0).padStart(3)} %`
console.log(
  `\n${tests.length} tests in ${files.length} files, ${wallSeconds.toFixed(0)} s on ${availableParallelism()} cores = ${capacity.toFixed(0)} s of processor time`,
)
console.log(`starts: ${total.node} Node.js, ${total.git} git, ${total.other} other`)
const byKind = new Map()
for (const { kind, ticks } of seen.values()) byKind.set(kind, (byKind.get(kind) ?? 0) + ticks / TICKS_PER_SECOND)
for (const [kind, seconds] of byKind) console.log(`${kind.padEnd(34)}${share(seconds)}`)
const sampled = [...byKind.values()].reduce((sum, seconds) => sum + seconds, 0)
console.log(`${`too short to sample (under ${SAMPLE_MS} ms)`.padEnd(34)}${share(Math.max(0, busy - sampled))}`)
console.log(`${'idle: every process waits'.padEnd(34)}${share(Math.max(0, capacity - busy))}`)
rmSync(folder, { recursive: true })
process.exitCode = code

/** Processor time of the whole machine since its boot: keep it quiet while this runs. */
function busySeconds() {
  const [, user, nice, system] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/).map(Number)
  return (user + nice + system) / TICKS_PER_SECOND
}

/** The processor time of every process that is running now; the last sample of each counts. */
function sample() {
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    let stat
    let program
    let line
    try {
      stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      program = basename(readlinkSync(`/proc/${pid}/exe`))
      line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch (error) {
      // Ended since the folder was read, a thread of the kernel, or a process of another user.
      if (error.code === 'ENOENT' || error.code === 'ESRCH' || error.code === 'EACCES') continue
      throw error
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const key = `${pid} ${fields[19]}`
    const ticks = Number(fields[11]) + Number(fields[12])
    const earlier = seen.get(key)
    // What ran before this run counts from its first sample on.
    const base = earlier?.base ?? (Number(fields[19]) / TICKS_PER_SECOND < uptimeAtStart ? ticks : 0)
    seen.set(key, { kind: kindOf(program, line), base, ticks: ticks - base })
  }
}

function kindOf(program, line) {
  if (/chrom|headless_shell/.test(program)) return 'Chromium'
  if (program === 'postgres' || program === 'git') return program
  if (!program.startsWith('node')) return 'other programs'
  return /vitest/.test(line) ? 'Vitest and its workers' : 'Node.js programs'
}

function startsByFile() {
  const by = new Map()
  const noted = readdirSync(counts).map((name) => readFileSync(join(counts, name), 'utf8'))
  for (const line of noted.join('').split('\n')) {
    const [what, owner = '', program = ''] = line.split('\t')
    if (what === '') continue
    const name = relative('.', owner)
    const counts = by.get(name) ?? { ...NONE }
    by.set(name, counts)
    if (what === 'node') counts.node += 1
    else if (what === 'cpu') counts.cpuMs += Number(program)
    else if (what === 'worker') counts.workerMs += Number(program)
    else if (program === 'git') counts.git += 1
    // A start of Node.js is noted by itself.
    else if (program !== 'node' && !LAUNCHERS.includes(program)) counts.other += 1
  }
  return by
}
