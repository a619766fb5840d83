// The two lines of the README, in a fresh clone with an empty home, twice: only at soak size, where there is time for a whole suite inside of the suite.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownTerminal } from '../support/own-terminal.ts'
import { runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { isSoak } from '../support/scale.ts'
import { until } from '../support/wait.ts'

const HOURS = 3_600_000

/** What a newcomer has: the commits, Node.js and npm. Where npm finds its packages is the machine's affair. */
function freshClone(): { readonly root: string; readonly env: Readonly<Record<string, string>> } {
  const folder = temporaryFolder()
  const [root, home] = [join(folder, 'heimdall'), join(folder, 'home')]
  mkdirSync(home)
  execFileSync('git', ['clone', '--quiet', '.', root])
  const settings = Object.entries(process.env).filter(([name]) => /^npm_config_(registry|cafile)$/i.test(name))
  const known = Object.fromEntries(settings) as Record<string, string>
  return { root, env: { ...known, PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' } }
}

const line = (end: string): string =>
  new RegExp(`^npm ci && ${end}$`, 'm').exec(readFileSync('README.md', 'utf8'))?.[0] ?? `no line ends with ${end}`

test.runIf(isSoak)('the first shows a fleet at work and ends with Ctrl-C', { timeout: HOURS }, async () => {
  for (let time = 0; time < 2; time += 1) {
    const { root, env } = freshClone()
    const terminal = ownTerminal(['sh', '-c', line('npm run demo')], { cwd: root, env })
    const ended = { isOver: false }
    void terminal.ended.then(() => (ended.isOver = true))
    const shown = await until('where to look', () => /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.written())?.[0], {
      waitMs: HOURS / 6,
      context: () => terminal.written(),
    })
    expect((await fetch(shown)).status).toBe(200)
    await until('the end of the demo', () => /Ctrl-C/.test(terminal.written()), { waitMs: HOURS / 6 })
    terminal.type('\u0003')
    await until('its end', () => ended.isOver, { context: () => terminal.written() })
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })).toBe('')
  }
})

test.runIf(isSoak)('the second passes all tests', { timeout: 2 * HOURS }, async () => {
  for (let time = 0; time < 2; time += 1) {
    const { root, env } = freshClone()
    const { code, stdout } = await runProgram(['sh', '-c', line('npm test')], { cwd: root, env })
    expect(code, stdout.slice(-4_000)).toBe(0)
  }
})
