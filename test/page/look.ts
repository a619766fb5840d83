// A browser on the page of a real hub, and what tests do with it again and again.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startBrowser } from '../support/browser.ts'
import { onTestFinished } from '../support/cleanup.ts'
import type { RunningHub } from '../support/sample-fleet.ts'
import { isSoak } from '../support/scale.ts'

/** For people to look at, written by the soak run; ignored by git. */
const PICTURES = resolve(import.meta.dirname, '../../.build/screens')

const LAPTOP = { width: 1440, height: 900 }

/** For whatever the page is to show, as long as a wait anywhere else may take: a browser shares its two cores with three other tests. */
export const SEEN_MS = 60_000

export interface Visitor {
  readonly page: Page
  /** What the page complained of: scripts that failed, rules of the content policy that were broken. */
  readonly complaints: readonly string[]
  go(hash: string): Promise<void>
  /** What the hub tells this page. */
  get<T>(path: string): Promise<T>
  picture(name: string): Promise<void>
}

let shared: Promise<Browser> | undefined

/** Cookies and storage of its own in the one browser that serves all tests of a worker and ends with it. */
export async function profile(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await (shared ??= startBrowser())
  const context = await browser.newContext({
    viewport: LAPTOP,
    colorScheme: 'dark',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    ...options,
  })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(SEEN_MS)
  return context
}

type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

/** Each link takes two starts of Node.js: the first visitor of a hub signs in, and the others get its cookie and pass. */
const signedIn = new WeakMap<RunningHub, SignedIn>()

/** A browser that is signed in; `before` runs in it before anything of ours. */
export async function visit(hub: RunningHub, options: BrowserContextOptions = {}, before = ''): Promise<Visitor> {
  const known = signedIn.get(hub)
  const context = await profile({ ...options, ...(known !== undefined && { storageState: known }) })
  if (before !== '') await context.addInitScript(before)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(message.text()))
      complaints.push(message.text())
  })
  await page.goto(known === undefined ? await hub.link() : hub.url)
  // On a phone it is not shown.
  await page.waitForSelector('.foot .live-dot:not(.off)', { state: 'attached' })
  if (known === undefined) signedIn.set(hub, await context.storageState())
  return {
    page,
    complaints,
    async go(hash) {
      // As a link on the page does it: without loading anything anew.
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    },
    get<T>(path: string) {
      const asked = `fetch(${JSON.stringify(path)}, { headers: { 'x-heimdall-pass': localStorage.getItem('heimdall.pass') } })`
      return page.evaluate<T>(`${asked}.then((reply) => reply.json())`)
    },
    async picture(name) {
      if (!isSoak) return
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: join(PICTURES, `${name}.png`), timeout: 120_000 })
    },
  }
}
