// Before the integration tests: build the launchers and fixture programs that they run, and the repositories that their projects are copies of.
import { execFileSync } from 'node:child_process'
import { bundlePrograms } from '../../scripts/programs.mjs'
import { makeRepositories } from './repository.ts'

export async function setup(): Promise<void> {
  makeRepositories()
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], { stdio: 'inherit' })
  await bundlePrograms('test/fixtures', '.build/fixtures')
}
