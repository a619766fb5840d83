// The dashboard in a real browser on a real hub: what is loaded before the terminal, and how the map, the timeline and search grow with what they show.
import type { Page } from 'playwright-core'
import { bundlePrograms } from '../scripts/programs.mjs'
import { startBrowser } from '../test/support/browser.ts'
import { runBench, type Side } from './support/bench.ts'
import {
  type BenchHub,
  type BenchPage,
  type BenchProject,
  benchProject,
  go,
  removeBench,
  startBenchHub,
  visitBench,
} from './support/page.ts'
import { recordOf, writeRuns } from './support/records.ts'

const MANY = { files: 50_000, events: 100_000 }
const FEW = { files: 500, events: 500 }
const SOME_EVENTS = 1_000
const JS_BYTES_GOAL = 300_000

/** Three events to a call: all in one run, since one timeline is to show them. */
const callsOf = (events: number): number => Math.ceil(events / 3)
const runIdOf = (text: string): string => (JSON.parse(text.slice(0, text.indexOf('\n'))) as { run_id: string }).run_id
const RUN = runIdOf(recordOf(0, 0))

interface Site extends BenchPage {
  readonly project: BenchProject
  readonly hub: BenchHub
}

async function mapDrawnAndHovered(page: Page): Promise<void> {
  await go(page, '#/claims')
  // The tree stands beside the map and is there when its files are.
  await page.locator('.claims_tree', { hasText: 'src' }).waitFor({ timeout: 120_000 })
  await page.waitForSelector('.claims_map canvas')
  for (let step = 0; step < 20; step += 1) await page.mouse.move(420 + step * 30, 200 + step * 20)
  await go(page, '#/needs-you')
}

async function timelineZoomed(page: Page): Promise<void> {
  await go(page, `#/timeline/${RUN}`)
  await page.waitForSelector('.timeline_run-head', { timeout: 180_000 })
  for (const key of ['+', '+', '+', 'ArrowRight', 'ArrowRight', '-', '-', '0']) {
    await page.keyboard.press(key)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  }
  await go(page, '#/needs-you')
}

/** From the last letter to the first hit among calls. */
async function searched({ page, pass }: Site): Promise<number> {
  const took = await page.evaluate<number>(`(async () => {
    const began = performance.now()
    const reply = await fetch('/api/search?q=module-77', { headers: { 'x-heimdall-pass': ${JSON.stringify(pass)} } })
    const { hits } = await reply.json()
    if (!hits.some(({ kind }) => kind === 'call')) throw new Error('no call was found')
    return performance.now() - began
  })()`)
  return took
}

await runBench({
  name: 'dashboard',
  about: `the page on a real hub in Chromium; ${MANY.files} files and ${MANY.events} events against ${FEW.files} and ${FEW.events}`,
  async prepare() {
    await bundlePrograms('test/fixtures', '.build/fixtures')
    const browser = await startBrowser()
    const site = async (files: number, events: number): Promise<Site> => {
      const project = benchProject(files)
      writeRuns(project.state, { runs: 1, callsOfRun: callsOf(events), repoPath: project.root })
      const hub = await startBenchHub(project)
      return { ...(await visitBench(browser, hub.link)), project, hub }
    }
    const sites = [await site(MANY.files, MANY.events), await site(FEW.files, FEW.events), await site(10, SOME_EVENTS)]
    const [many, few, some] = sites
    if (many === undefined || few === undefined || some === undefined) throw new Error('no hub')
    const side = (name: string, one: Site, act: (page: Page) => Promise<void>): Side => ({
      name,
      measure: () => one.longestTask(act),
    })
    return {
      comparisons: [
        {
          what: 'compressed bytes before the terminal is opened, against 300 KB',
          unit: 'bytes',
          rounds: 1,
          ours: { name: 'the page, its script, style and letters', measure: () => few.bytes },
          peers: [{ name: '300 KB', measure: () => JS_BYTES_GOAL, goal: { atMost: 1 } }],
        },
        {
          what: `longest task while the map is drawn and hovered, ${MANY.files} files against ${FEW.files}`,
          unit: 'ms',
          rounds: 5,
          ours: side(`${MANY.files} files`, many, mapDrawnAndHovered),
          peers: [{ ...side(`${FEW.files} files`, few, mapDrawnAndHovered), goal: { atMost: 5 } }],
        },
        {
          what: `longest task while a timeline zooms, ${MANY.events} events against ${FEW.events}`,
          unit: 'ms',
          rounds: 5,
          ours: side(`${MANY.events} events`, many, timelineZoomed),
          peers: [{ ...side(`${FEW.events} events`, few, timelineZoomed), goal: { atMost: 5 } }],
        },
        {
          what: `search over ${MANY.events} events against ${SOME_EVENTS}`,
          unit: 'ms',
          rounds: 15,
          ours: { name: `${MANY.events} events`, measure: () => searched(many) },
          peers: [{ name: `${SOME_EVENTS} events`, measure: () => searched(some) }],
        },
      ],
      async cleanup() {
        await browser.close()
        for (const { hub, project } of sites) {
          hub.stop()
          removeBench(project)
        }
      },
    }
  },
})
