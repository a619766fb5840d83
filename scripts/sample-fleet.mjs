// `node scripts/sample-fleet.mjs [AGENTS]`: the fleet that tests of the page show, with a hub that stays. Prints a link; ended by Ctrl-C.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { bundlePrograms } from './programs.mjs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], { stdio: 'inherit' })
await bundlePrograms('test/fixtures', '.build/fixtures')
const fleet = await rolldown({
  input: 'test/support/sample-stay.ts',
  platform: 'node',
  external: /^node:/,
  transform: { define: { __HEIMDALL_VERSION__: JSON.stringify(version) } },
  // Suites are for tests alone, and not asked for here.
  shimMissingExports: true,
  logLevel: 'silent',
  // What tests clean up behind themselves is cleaned up here when the program ends.
  resolve: { alias: { vitest: resolve('test/support/outside-tests.ts') } },
})
await fleet.write({ file: '.build/sample-fleet/sample-fleet.mjs', format: 'esm', codeSplitting: false })
await fleet.close()
await import(resolve('.build/sample-fleet/sample-fleet.mjs'))
