// `npm run bench [-- NAME...]`: builds, runs each bench as a program of its own, and fails when one of them does.
import { spawnSync } from 'node:child_process'
import { bundlePrograms } from './programs.mjs'

const run = (args) => spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1

if (run(['scripts/build.mjs']) !== 0) process.exit(1)
const names = await bundlePrograms('bench', '.build/bench')
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`error: no bench called ${unknown.join(', ')}\nhint: there are ${names.join(', ')}`)
  process.exit(2)
}
// NODE_EXTRA_CA_CERTS would add its loading time to every Node process that a bench starts.
delete process.env.NODE_EXTRA_CA_CERTS
const failed = (wanted.length > 0 ? wanted : names).filter((name) => run([`.build/bench/${name}.mjs`]) !== 0)
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
