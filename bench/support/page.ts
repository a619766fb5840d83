// The dashboard on a real hub in Chromium, for benches: a project, its hub at a terminal of its own, and a page that counts its long tasks.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'

export interface BenchProject {
  readonly folder: string
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly state: string
}

/** A repository of so many files, ten to a folder. */
export function benchProject(files: number): BenchProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hm-bench-')))
  const root = join(folder, 'project')
  for (let part = 0; part < files / 10; part += 1) {
    const path = join(root, 'src', `area-${part % 50}`, `part-${part}`)
    mkdirSync(path, { recursive: true })
    for (let file = 0; file < 10; file += 1)
      writeFileSync(join(path, `file-${file}.ts`), 'line\n'.repeat(5 + ((part + file) % 40)))
  }
  const home = join(folder, 'home')
  mkdirSync(home)
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'ignore' })
  git('init', '--quiet')
  git('add', '-A')
  git('-c', 'user.name=Ana', '-c', 'user.email=ana@example.org', 'commit', '--quiet', '--message=files')
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: home, USER: 'ana' }
  return { folder, root, env, state: join(home, '.local/state/heimdall') }
}

export interface BenchHub {
  readonly link: string
  stop(): void
}

/** At a terminal that no agent is above; only there a link is printed. */
export function startBenchHub({ root, env }: BenchProject): Promise<BenchHub> {
  const command = [process.execPath, resolve('bin/heimdall'), 'up', '--port', '0']
  const terminal = [
    process.execPath,
    resolve('.build/fixtures/own-terminal.mjs'),
    JSON.stringify({ command, cwd: root, env }),
  ]
  const child: ChildProcess = spawn('/bin/sh', ['-c', '"$@" <&4 &', 'sh', ...terminal], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
    detached: true,
  })
  return new Promise((give, fail) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const link = /http:\/\/\S+#key=[\w-]+(?=\s)/.exec(text)?.[0]
      // The terminal goes with its input, and the hub with the terminal.
      if (link !== undefined) give({ link, stop: () => (child.stdio[4] as { destroy(): void }).destroy() })
    })
    child.once('error', fail)
  })
}

export interface BenchPage {
  readonly page: Page
  /** What the page shows with its requests. */
  readonly pass: string
  /** Compressed bytes that came over the line until the first screen was live. */
  readonly bytes: number
  /** The longest task while `act` runs, in ms; what the browser does not count as long, below 50 ms, is 50. */
  longestTask(act: (page: Page) => Promise<void>): Promise<number>
}

const COUNT_TASKS = `
  window.longest = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration)
  }).observe({ type: 'longtask', buffered: true })`

export async function visitBench(browser: Browser, link: string): Promise<BenchPage> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const lines = await context.newCDPSession(page)
  let bytes = 0
  await lines.send('Network.enable')
  lines.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.addInitScript(COUNT_TASKS)
  const shown = page.waitForRequest((request) => request.headers()['x-heimdall-pass'] !== undefined)
  await page.goto(link)
  await page.waitForSelector('.shell_foot .shell_live-dot:not(.shell_off)')
  await page.waitForSelector('h1')
  return {
    page,
    pass: (await shown).headers()['x-heimdall-pass'] ?? '',
    bytes,
    async longestTask(act) {
      await page.evaluate('window.longest = 0')
      await act(page)
      // Two frames, so that what was asked for last is drawn.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      return Math.max(50, await page.evaluate<number>('window.longest'))
    },
  }
}

export const go = (page: Page, hash: string): Promise<unknown> => page.evaluate(`location.hash = '${hash}'`)

export const removeBench = ({ folder }: BenchProject): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
