// Before the integration tests: build the launchers they run, and the fixture programs that import our source.
import { execFileSync } from 'node:child_process'
import { bundlePrograms } from '../../scripts/programs.mjs'

export async function setup(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], { stdio: 'inherit' })
  await bundlePrograms('test/fixtures', '.build/fixtures')
}
