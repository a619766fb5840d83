// What is published works where nothing of this checkout is: packed, unpacked into an empty prefix, and run from there.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../support/programs.ts'
import { temporaryFolder, temporaryProject } from '../support/project.ts'
import { isSoak } from '../support/scale.ts'

const { dependencies, bin } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  dependencies: Record<string, string>
  bin: Record<string, string>
}

/** At soak size npm itself installs it, from its cache or the registry; otherwise the dependencies are those of this checkout. */
function installed(): string {
  const folder = temporaryFolder()
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      encoding: 'utf8',
      env,
    }),
  ) as [{ filename: string }]
  const prefix = join(folder, 'prefix')
  if (isSoak) {
    const args = ['install', '--global', '--prefix', prefix, '--prefer-offline', join(folder, filename)]
    execFileSync('npm', args, { env, stdio: 'pipe' })
    return join(prefix, 'bin')
  }
  const home = join(prefix, 'lib/node_modules/heimdall-agents')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', home])
  for (const name of Object.keys(dependencies).flatMap(withPartsForThisSystem)) {
    mkdirSync(dirname(join(home, 'node_modules', name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(home, 'node_modules', name))
  }
  mkdirSync(join(prefix, 'bin'))
  for (const [name, path] of Object.entries(bin)) symlinkSync(join(home, path), join(prefix, 'bin', name))
  return join(prefix, 'bin')
}

/** npm puts what a package has for this system beside it. */
function withPartsForThisSystem(name: string): string[] {
  const { optionalDependencies = {} } = JSON.parse(
    readFileSync(join('node_modules', name, 'package.json'), 'utf8'),
  ) as { optionalDependencies?: Record<string, string> }
  return [name, ...Object.keys(optionalDependencies).filter((part) => existsSync(join('node_modules', part)))]
}

test('every launcher of the packed package starts; a session, a claim, a brief and the page work from there', async () => {
  const bins = installed()
  const project = temporaryProject()
  const run = (name: string, ...args: string[]) =>
    runProgram([join(bins, name), ...args], { cwd: project.root, env: project.env })
  const helped = await Promise.all(Object.keys(bin).map(async (name) => [name, (await run(name, '--help')).code]))
  expect(helped).toEqual(Object.keys(bin).map((name) => [name, 0]))
  // `npx heimdall-agents` runs the bin that has the name of the package.
  expect((await run('heimdall-agents', 'version')).stdout).toBe((await run('heimdall', 'version')).stdout)
  const session = await run('hm', 'run', '--id', 'packed', '--detach', '--wait', '--', 'sh', '-c', 'exit 7')
  expect(session.code).toBe(7)
  const claim = await run('heimdall', 'claim', 'src/**', '--json')
  expect(JSON.parse(claim.stdout)).toMatchObject({ ok: true, data: { granted: true } })
  // The corpus and the tokenizer come along.
  expect((await run('heimdall-protocol', 'demo')).stdout).toMatch(/measured delta: orchestration: 26697 -> /)
  const page = join(bins, '../lib/node_modules/heimdall-agents/dist')
  for (const file of ['dashboard/index.html', 'demo.cjs', 'THIRD-PARTY-LICENSES.txt'])
    expect([file, existsSync(resolve(page, file))]).toEqual([file, true])
})
