// A browser on the page of a real hub, and what tests do with it again and again.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startBrowser } from '../support/browser.ts'
import { onTestFinished } from '../support/cleanup.ts'
import { comeBack, type Browser as HubBrowser, type Identity, signIn } from '../support/hub.ts'
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

/** Storage of its own in the one browser that serves all tests of a worker and ends with it. */
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

/** Each link takes two starts of Node.js: the first visit of a hub signs in, and the others get the same key. */
const signedIn = new WeakMap<RunningHub, Promise<Identity>>()

async function identityAt(hub: RunningHub): Promise<Identity> {
  const key = /#key=(.+)$/.exec(await hub.link())?.[1] ?? ''
  return await signIn(Number(new URL(hub.url).port), key)
}

/** Puts a sign-in where the page keeps its own. */
export async function keepIdentity(page: Page, url: string, { id, key, hub }: Identity): Promise<void> {
  // Any file of the hub, so that nothing of the page runs before.
  await page.goto(`${url}/favicon.svg`)
  await page.evaluate(`(async () => {
    const curve = { name: 'ECDSA', namedCurve: 'P-256' }
    const spki = Uint8Array.from(atob(${JSON.stringify(Buffer.from(hub, 'base64url').toString('base64'))}), (c) => c.charCodeAt(0))
    const identity = {
      id: ${JSON.stringify(id)},
      key: await crypto.subtle.importKey('jwk', ${JSON.stringify(key)}, curve, false, ['sign']),
      hub: await crypto.subtle.importKey('spki', spki, curve, true, ['verify']),
    }
    const done = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const opening = indexedDB.open('heimdall', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('sign-in')
    const db = await done(opening)
    // Committed, not only done: the page is left right after this.
    const transaction = db.transaction('sign-in', 'readwrite')
    transaction.objectStore('sign-in').put(identity, 'identity')
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve
      transaction.onabort = () => reject(transaction.error)
    })
    db.close()
  })()`)
}

/** A browser that is signed in; `before` is a script that runs before the page's own, `prepare` changes the context. */
export async function visit(
  hub: RunningHub,
  options: BrowserContextOptions = {},
  before = '',
  prepare?: (context: BrowserContext) => Promise<void>,
): Promise<Visitor> {
  const identity = signedIn.get(hub) ?? identityAt(hub)
  signedIn.set(hub, identity)
  const context = await profile(options)
  if (before !== '') await context.addInitScript(before)
  await prepare?.(context)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(message.text()))
      complaints.push(message.text())
  })
  await keepIdentity(page, hub.url, await identity)
  await page.goto(hub.url)
  // On a phone it is not shown.
  await page.waitForSelector('.shell_foot .shell_live-dot:not(.shell_off)', { state: 'attached' })
  let browser: Promise<HubBrowser> | undefined
  return {
    page,
    complaints,
    async go(hash) {
      // As a link on the page does it: without loading anything anew.
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
    },
    async get<T>(path: string) {
      browser ??= comeBack(Number(new URL(hub.url).port), await identity)
      return (await browser).get<T>(path)
    },
    async picture(name) {
      if (!isSoak) return
      mkdirSync(PICTURES, { recursive: true })
      await page.screenshot({ path: join(PICTURES, `${name}.png`), timeout: 120_000 })
    },
  }
}
