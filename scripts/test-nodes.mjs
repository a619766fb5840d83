// Runs the suite on other Node.js: `npm run test:nodes [-- [22 24 …] [--lowest] [arguments of vitest]]`. Without numbers: the
// newest of every line in `engines` but the one that runs this. The programs come from the npm registry into `.nodes/`.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { linesOf, newestOf, packageFor } from './nodes.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const CACHE = join(ROOT, '.nodes')
const NAME = packageFor(process.platform, process.arch)

const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

function install(version) {
  const folder = join(CACHE, version)
  const node = join(folder, 'node_modules', NAME, 'bin/node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    npm('install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', `${NAME}@${version}`)
  }
  const found = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (found !== `v${version}`) throw new Error(`${node} says that it is ${found}`)
  return node
}

/** The launchers of bin/ ask the PATH for their Node.js, so it comes first there as well. */
function runSuite(version, args) {
  const node = install(version)
  const report = join(CACHE, `${version}.json`)
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const startedMs = Date.now()
  const { status } = spawnSync(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` },
  })
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {}
  const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1)
  const { numPassedTests: passed = '?', numFailedTests: failed = '?', numPendingTests: skipped = '?' } = counts
  return { isGood: status === 0, row: [version, passed, failed, skipped, minutes] }
}

const words = process.argv.slice(2)
const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const asked = words.filter((word) => /^\d+$/.test(word)).map(Number)
const own = Number.parseInt(process.versions.node, 10)
const lines = linesOf(engines.node).filter(({ line }) => (asked.length === 0 ? line !== own : asked.includes(line)))
const published = JSON.parse(npm('view', NAME, 'versions', '--json'))
const results = lines.map(({ line, lowest }) =>
  runSuite(
    words.includes('--lowest') ? lowest : newestOf(line, published),
    words.filter((word) => !/^\d+$/.test(word) && word !== '--lowest'),
  ),
)
console.log()
for (const row of [['Node.js', 'passed', 'failed', 'skipped', 'minutes'], ...results.map((result) => result.row)])
  console.log(
    row
      .map((cell) => String(cell).padEnd(10))
      .join('')
      .trimEnd(),
  )
process.exitCode = results.length > 0 && results.every(({ isGood }) => isGood) ? 0 : 1
