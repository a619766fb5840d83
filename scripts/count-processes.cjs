// Preloaded by `npm run test:slow` into every Node.js process of a test run: notes each start, with the test file that caused it.
const childProcess = require('node:child_process')
const { appendFileSync } = require('node:fs')
const path = require('node:path')
const { syncBuiltinESMExports } = require('node:module')

const { HEIMDALL_COUNT_FOLDER: folder, HEIMDALL_COUNT_OWNER: inherited } = process.env

/** A test worker runs one file after the other; what it starts inherits the file that ran then. */
const owner = () => globalThis.__vitest_worker__?.filepath ?? inherited ?? ''
// A file for each process: some tests limit the size of files.
const note = (...fields) => appendFileSync(path.join(folder, String(process.pid)), `${fields.join('\t')}\n`)

/** The environment of a child, with this file preloaded into it too. */
const marked = (env = process.env) => ({
  ...env,
  NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --require ${__filename}`.trim(),
  HEIMDALL_COUNT_FOLDER: folder,
  HEIMDALL_COUNT_OWNER: owner(),
})

const { spawn } = childProcess.ChildProcess.prototype
childProcess.ChildProcess.prototype.spawn = function (options) {
  note('start', owner(), path.basename(options.file))
  const pairs = Object.entries(marked(Object.fromEntries((options.envPairs ?? []).map((pair) => pair.split(/=(.*)/s)))))
  return spawn.call(this, { ...options, envPairs: pairs.map(([name, value]) => `${name}=${value}`) })
}
// The synchronous ones do not meet inside of Node.js in a place that can be wrapped.
for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
  const original = childProcess[name]
  childProcess[name] = (program, ...rest) => {
    note('start', owner(), path.basename(String(program).split(' ')[0]))
    const at = rest.findIndex((one) => one !== null && typeof one === 'object' && !Array.isArray(one))
    const options = at === -1 ? {} : rest[at]
    const others = at === -1 ? rest : rest.toSpliced(at, 1)
    return original(program, ...others, { ...options, env: marked(options.env ?? process.env) })
  }
}
syncBuiltinESMExports()

if (globalThis.__vitest_worker__ === undefined) note('node', owner(), path.basename(process.argv[1] ?? 'node'))
const noteCpu = (what) => {
  const { user, system } = process.cpuUsage()
  note(what, owner(), (user + system - counted) / 1_000)
  counted = user + system
}
let counted = 0
// A test worker runs many files: its processor time goes to the file that runs at each tick.
setInterval(() => globalThis.__vitest_worker__ !== undefined && noteCpu('worker'), 250).unref()
process.on('exit', () => noteCpu(globalThis.__vitest_worker__ === undefined ? 'cpu' : 'worker'))
