// `npm run bench [-- NAME... [PART...]]`: builds, runs each bench as a program of its own, and fails when one of them does.
import { spawnSync } from 'node:child_process'
import { bundlePrograms } from './programs.mjs'

const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1

if (run(['scripts/build.mjs']) !== 0) process.exit(1)
const names = await bundlePrograms('bench', '.build/bench')
const words = process.argv.slice(2)
const wanted = words.filter((word) => names.includes(word))
// Any other word behind a name picks those comparisons of it whose title has the word.
const parts = words.filter((word) => !names.includes(word))
if (wanted.length === 0 && parts.length > 0) {
  console.error(`error: no bench called ${parts.join(', ')}\nhint: there are ${names.join(', ')}`)
  process.exit(2)
}
// NODE_EXTRA_CA_CERTS would add its loading time to every Node process that a bench starts.
delete process.env.NODE_EXTRA_CA_CERTS
const failed = (wanted.length > 0 ? wanted : names).filter((name) => run([`.build/bench/${name}.mjs`, ...parts]) !== 0)
if (parts.length === 0) run(['scripts/figures.mjs'])
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
