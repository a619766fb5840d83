// One table of what benches have found: reads bench/results/, keeps docs/figures.json, and puts the rows into the README and docs/bench.md.
//
//   node scripts/figures.mjs            prints the table; `npm run bench` ends with it
//   node scripts/figures.mjs --keep     also writes docs/figures.json and the pages
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIGURE_PAGES, KEPT, MARKS } from './figures-block.mjs'

const RESULTS = 'bench/results'
const found = existsSync(RESULTS) ? readdirSync(RESULTS).filter((name) => name.endsWith('.json')) : []
const rows = found.flatMap((name) => rowsOf(JSON.parse(readFileSync(join(RESULTS, name), 'utf8'))))
for (const { bench, what, peer, ratio, goal, met, load } of rows)
  console.log(
    `${bench}: ${what}, against ${peer}: ${ratio}${goal === null ? '' : `, goal ${goal}: ${met ? 'met' : 'MISSED'}`} (load ${load})`,
  )
console.log(
  `peers: ${Object.entries(versions())
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}`,
)

if (process.argv.includes('--keep')) {
  const had = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')).figures : []
  // A bench that was not run this time keeps what it had, with its date.
  const ran = new Set(rows.map(({ bench }) => bench))
  const figures = [...had.filter(({ bench }) => !ran.has(bench)), ...rows].toSorted((a, b) =>
    `${a.bench} ${a.what} ${a.peer}` < `${b.bench} ${b.what} ${b.peer}` ? -1 : 1,
  )
  const kept = { versions: versions(), figures }
  writeFileSync(KEPT, `${JSON.stringify(kept, null, 2)}\n`)
  for (const { page, block } of FIGURE_PAGES) {
    const [before, , after] = readFileSync(page, 'utf8').split(new RegExp(`(${MARKS.begin}[^]*?${MARKS.end})`))
    writeFileSync(page, `${before}${block(kept)}${after}`)
  }
}

function rowsOf({ name: bench, takenAt, load, comparisons }) {
  return comparisons.flatMap(({ what, peers }) =>
    peers.map(({ name: peer, ratio, goal, passed }) => ({
      bench,
      what,
      peer,
      ratio: Number(ratio.toPrecision(3)),
      goal,
      met: passed,
      load: Number(load.before[0].toFixed(1)),
      taken: takenAt.slice(0, 10),
    })),
  )
}

/** Of what is compared with: programs by their own word, packages by the lock file. */
function versions() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const names = ['@modelcontextprotocol/sdk', '@a2a-js/sdk', 'canonicalize', 'mcp-proxy', 'picomatch']
  const programs = { tmux: ['-V'], dtach: ['--version'] }
  return {
    node: process.version,
    ...Object.fromEntries(names.map((name) => [name, packages[`node_modules/${name}`].version])),
    ...Object.fromEntries(
      Object.entries(programs).flatMap(([program, args]) => {
        const said = wordOf(program, args)
        return said === undefined ? [] : [[program, said]]
      }),
    ),
  }
}

function wordOf(program, args) {
  try {
    return /[\d.]+[a-z]?/.exec(execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' }))?.[0]
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
