// Links as they come: unknown, cut, broken, endless, of another script; used twice; and more tabs than a browser has connections for.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asks } from '../support/sample-agents.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { browser, SEEN_MS, visit } from './look.ts'

/** Those that are about something first. */
const SCREENS = ['session', 'claims', 'decisions', 'timeline', 'needs-you', 'tasks', 'fleet', 'tokens', 'agents']
/** A page that hangs is told from a slow one by this. */

/** What stands there once nothing is being loaded; by looks, since the page's policy lets nothing be evaluated in it. */
function drawn(page: Page, where: string): Promise<string> {
  return until(
    `${where} to be drawn`,
    async () => {
      if ((await page.locator('#main .skeleton').count()) > 0) return undefined
      const text = await page.locator('#main').innerText({ timeout: SEEN_MS })
      return text.length > 20 ? text : undefined
    },
    { waitMs: SEEN_MS },
  )
}

test('every screen says what it does not know, and the next one works', { timeout: 300_000 }, async () => {
  const fleet = parcelworks()
  const question = asks('question', 'Which?')
  await fleet.start({ id: 'amber-otter', task: ['T-1', 'Sort'], screen: 'Which?', does: [question] })
  const hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const visitor = await visit(chromium, hub)
  const { page } = visitor
  await page.locator('.inbox-row').first().waitFor()
  const { runs } = await visitor.get<{ runs: { run_id: string }[] }>('/api/runs')
  const run = runs[0]?.run_id ?? ''

  const ids = ['nobody', run.slice(0, 10), '%E0%A4%A', '%E2%80%AE', 'x'.repeat(40_000), `${run}/nope`]
  const more = ['%', '%2F..%2F', '..', '%00', 'إصلاح', '__proto__', 'a%2Fb', '%0a', '<b>x']
  for (const screen of SCREENS.slice(0, scaled(6, SCREENS.length)))
    for (const id of [...ids, ...more.slice(0, scaled(2, more.length))]) {
      const place = `#/${screen}/${id}`
      await visitor.go(place)
      const text = await drawn(page, place.slice(0, 60))
      expect({ place: place.slice(0, 60), text }).not.toMatchObject({
        text: expect.stringMatching(/cannot be drawn|INTERNAL|HUB_NOT_REACHED|[\u202a-\u202e]/) as string,
      })
    }

  // Nothing else stands in the place of what is not there, where a key would act on it.
  await visitor.go('#/needs-you/nobody')
  await page.locator('.wait-pane').getByText('This wait is not open').waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('z')
  await visitor.go('#/tasks/nobody')
  await page.getByText('No such task').waitFor()
  expect(await page.locator('.routing').count()).toBe(0)
  await visitor.go('#/needs-you')
  await page.locator('.wait-pane .answer-buttons').waitFor()
  await page.locator('.inbox-row', { hasNotText: 'later' }).waitFor()

  // A range that was cut, of another century, or the wrong way round is none.
  for (const range of ['from=abc', 'from=2', 'to=', 'from=0001-01-01&to=9999-01-01', `from=${'9'.repeat(400)}`]) {
    await visitor.go(`#/timeline/${run}?${range}`)
    await page.locator('.run-head', { hasText: 'Run of amber-otter' }).waitFor()
    await page.keyboard.press('-')
    await visitor.go('#/fleet')
    await page.locator('.card', { hasText: 'amber-otter' }).waitFor()
  }
  // A key leads back, and never away.
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Escape')
  expect(page.url()).toContain(hub.url)
  expect(visitor.complaints).toEqual([])

  await page.goto(`${hub.url}/?project=nobody`)
  await page.getByText('The hub does not show this project').waitFor()
  await page.locator('#main').getByRole('link').first().click()
  await page.locator('.inbox-row').first().waitFor()
})

test(
  'a link that was used or cut says so, and the next one in the same tab lets in',
  { timeout: 120_000 },
  async () => {
    const fleet = parcelworks()
    const hub = await startHub(fleet, fleet.more)
    const chromium = await browser()
    const used = await hub.link()
    await (await chromium.newPage()).goto(used)
    const links = [used, `${hub.url}/#key=%E0%A4%A`, `${hub.url}/#key=`, used.slice(0, -5)]
    for (const link of links.slice(0, scaled(2, links.length))) {
      const context = await chromium.newContext()
      context.setDefaultTimeout(SEEN_MS)
      const page = await context.newPage()
      const failures: string[] = []
      page.on('pageerror', (error) => failures.push(String(error)))
      await page.goto(link)
      await page.getByRole('alert').waitFor()
      expect(page.url()).not.toContain('key=')
      // Only what stands after the # changes: nothing is loaded anew.
      await page.goto(await hub.link())
      await page.locator('.foot .live-dot:not(.off)').waitFor()
      expect(page.url()).not.toContain('key=')
      expect(failures).toEqual([])
      await context.close()
    }
  },
)

test('more tabs than connections are live at once, and each hears of what happens', { timeout: 180_000 }, async () => {
  const fleet = parcelworks()
  await fleet.start({ id: 'ivory-lynx', screen: 'at work' })
  let hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const { page } = await visit(chromium, hub)
  const tabs = [page]
  // A browser keeps six connections to one host.
  while (tabs.length < scaled(8, 20)) {
    const tab = await page.context().newPage()
    await tab.goto(`${hub.url}/#/${tabs.length % 2 === 0 ? 'fleet' : 'needs-you'}`)
    await tab.locator('.foot .live-dot:not(.off)').waitFor()
    tabs.push(tab)
  }
  for (const tab of tabs) await tab.locator('.top .sums', { hasText: '1 agent' }).waitFor()
  // The first leaves, and with it nothing of the others.
  await page.close()
  const left = tabs.slice(1)
  await fleet.start({ id: 'amber-otter', screen: 'Which?', does: [asks('question', 'Which?')] })
  for (const tab of left) await tab.locator('.top .sums', { hasText: '1 waits for you' }).waitFor()
  for (const tab of left.slice(1, 4))
    if (tab.url().includes('fleet')) await tab.locator('.thumb', { hasText: 'at work' }).waitFor()

  // The hub is restarted under all of them.
  const port = new URL(hub.url).port
  await hub.stop()
  for (const tab of left) await tab.locator('.foot', { hasText: 'Not live' }).waitFor()
  hub = await startHub(fleet, fleet.more, ['--port', port])
  for (const tab of left) await tab.locator('.foot .live-dot:not(.off)').waitFor()
  await fleet.run('hm', ['send', 'amber-otter', 'EUR', '--enter'], { env: fleet.more })
  for (const tab of left) await tab.locator('.top .sums', { hasText: 'Nobody waits for you' }).waitFor()
})
