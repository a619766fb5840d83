// Many sessions that write all the time, and a page that is looked at meanwhile: nothing is missed, nothing is shown twice, nothing grows, and the page still answers. Two minutes with fifty sessions in the soak.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection, type SessionConnection } from '../../src/client/connection.ts'
import { HUB_LOOK_MS_MIN, HUB_SCREENS_MS } from '../../src/limits.ts'
import { sessionPaths } from '../../src/wire/session-paths.ts'
import { spine, type Spine } from '../spine/spine.ts'
import { type Browser, type Feed, openBrowser } from '../support/hub.ts'
import { startHub } from '../support/sample-fleet.ts'
import { isSoak, scaled } from '../support/scale.ts'
import { SEEN_MS, visit } from './look.ts'

const SESSIONS = scaled(3, 50)
const SOAK_MS = 120_000
const ROUNDS = 4
/** Of a hub or a page that forgets nothing, two minutes with fifty sessions would take several times this. */
const GROWTH_BYTES_MAX = 96 << 20

/** One that is asked about and told things, and those that write a line a second. */
async function startSessions(project: Spine): Promise<void> {
  const left = Array.from({ length: SESSIONS }, (_, n) => `writer-${n}`)
  const startNext = async (): Promise<void> => {
    for (let agent = left.shift(); agent !== undefined; agent = left.shift())
      await project.detached(
        agent,
        ['sh', '-c', 'i=0; while sleep 1; do i=$((i+1)); echo "line $i"; done'],
        ['--no-record'],
      )
  }
  await Promise.all(Array.from({ length: 4 }, startNext))
  await project.detached('asker', ['sleep', '100000'], ['--no-record'])
}

/** What the page showed of the asker's conversation, from its first frame on: every row, and whether one stood there twice. */
const WATCH_ROWS = `
  window.rowsSeen = new Map()
  window.rowsTwice = []
  document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => {
      const here = [...document.querySelectorAll('.session_talk-row[data-row]')].map((row) => [row.dataset.row, row.innerText])
      if (new Set(here.map(([id]) => id)).size !== here.length) window.rowsTwice.push(here.map(([id]) => id))
      for (const [id, text] of here) window.rowsSeen.set(id, text)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })`

interface Size {
  readonly hub: number
  readonly page: number
}

const hubPid = ({ home }: Spine): number =>
  (JSON.parse(readFileSync(join(home, '.local/state/heimdall/hub.json'), 'utf8')) as { readonly pid: number }).pid

/** What each holds; the page's without what is only waiting to be collected. */
async function sizeOf(project: Spine, tools: CDPSession): Promise<Size> {
  await tools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await tools.send('Runtime.getHeapUsage')
  const [, kib = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hubPid(project)}/status`, 'utf8')) ?? []
  return { hub: Number(kib) * 1_024, page: usedSize }
}

interface Watched {
  readonly page: Page
  readonly told: Browser
  readonly session: SessionConnection
}

/** A note, a question and its end: each is on the page before the next is said. */
async function round({ page, told, session }: Watched, n: number): Promise<void> {
  const note = { from: 'writer-0', to: 'asker', category: 'INFO', subject: `round ${n} of the soak`, body: 'read it' }
  expect((await told.post('/api/notes', note)).status).toBe(200)
  await page.locator('.session_talk-row[data-row]', { hasText: note.subject }).waitFor()
  const question = `May it go on with round ${n}?`
  await session.report({ source: 'hook', needs_input: true, evidence: question })
  await page.locator('.session_talk-row.waits', { hasText: question }).waitFor()
  expect(await page.locator('.session_talk-row.waits').count()).toBe(1)
  await session.report({ source: 'hook', needs_input: false })
  await page.locator('.shell_top .shell_sums', { hasText: 'Nothing waits for you' }).waitFor()
}

test(`${SESSIONS} sessions that write, for as long as somebody looks`, { timeout: 900_000 }, async () => {
  const project = spine()
  await startSessions(project)
  const hub = await startHub(project)
  const told = await openBrowser(Number(new URL(hub.url).port), await hub.link())
  const { page, complaints } = await visit(hub, {}, WATCH_ROWS)
  const tools = await page.context().newCDPSession(page)
  const session = await openConnection(
    sessionPaths(join(project.home, '.local/share/heimdall/sessions'), 'asker').socket,
  )
  onTestFinished(() => session.close())
  await page.evaluate("location.hash = '#/session/asker'")
  await page.locator('.session_talk-rows').waitFor()

  const fromMs = performance.now()
  const feeds: Feed[] = [told.feed('?screens=7')]
  await feeds[0]?.see('state')
  let early: Size | undefined
  let rounds = 0
  while (isSoak ? performance.now() - fromMs < SOAK_MS : rounds < ROUNDS) {
    await round({ page, told, session }, rounds)
    rounds += 1
    // Whoever goes away and comes back goes on where it stopped.
    if (rounds % 5 === 3) {
      const before = feeds.at(-1)
      before?.close()
      feeds.push(told.feed('?screens=7', before?.lastId))
      await feeds.at(-1)?.see('hello', ({ reset }) => !reset)
    }
    if (rounds === 2) early = await sizeOf(project, tools)
  }
  const tookMs = performance.now() - fromMs
  const late = await sizeOf(project, tools)

  // Nothing missed and nothing twice, on the line and on the page.
  const subjects = Array.from({ length: rounds }, (_, n) => `round ${n} of the soak`)
  await feeds.at(-1)?.see('log', ({ rows }) => rows.some(({ text }) => text.includes(`round ${rounds - 1} of`)))
  const rows = feeds.flatMap((feed) => feed.of('log').flatMap((part) => part.rows))
  expect(rows.flatMap(({ kind, text }) => (kind === 'note' ? subjectIn(text) : []))).toEqual(subjects)
  expect(new Set(rows.map(({ row_id: id }) => id)).size).toBe(rows.length)
  const seen = await page.evaluate<string[]>('[...window.rowsSeen.values()]')
  expect(seen.flatMap(subjectIn)).toEqual(subjects)
  expect(await page.evaluate('window.rowsTwice')).toEqual([])

  // The line tells no more often than it may, however much is written; and what was told whole is told once.
  for (const feed of feeds) {
    expect(feed.of('state').filter(({ whole }) => whole)).toHaveLength(1)
    expect(feed.of('state').length).toBeLessThanOrEqual(tookMs / HUB_LOOK_MS_MIN + 2)
    const screens = feed.of('screens').flatMap((part) => part.screens.map(({ session_id: id }) => id))
    const most = Math.max(0, ...[...new Set(screens)].map((id) => screens.filter((each) => each === id).length))
    expect(most).toBeLessThanOrEqual(tookMs / HUB_SCREENS_MS + 2)
  }
  expect({ hub: late.hub - (early?.hub ?? 0) < GROWTH_BYTES_MAX, late }).toMatchObject({ hub: true })
  expect({ page: late.page - (early?.page ?? 0) < GROWTH_BYTES_MAX, late }).toMatchObject({ page: true })

  // And it still answers: every session is there with what it wrote last.
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await page.locator('.fleet_card', { hasText: 'asker' }).waitFor()
  expect(await page.locator('.fleet_card').count()).toBe(SESSIONS + 1)
  await page
    .locator('.fleet_card', { hasText: 'writer-0' })
    .locator('.fleet_thumb', { hasText: /line \d+/ })
    .waitFor({ timeout: SEEN_MS })
  expect(complaints).toEqual([])
})

const subjectIn = (text: string): string[] => /round \d+ of the soak/.exec(text)?.slice(0, 1) ?? []
