// The page of a small fleet: links of every kind, wrong clocks, many tabs, Tab keys, and a hub that stops and starts.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { perFile } from '../support/cleanup.ts'
import { asks } from '../support/sample-agents.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { profile, SEEN_MS, visit } from './look.ts'

/** Screens about one thing come first. */
const SCREENS = ['session', 'claims', 'decisions', 'timeline', 'needs-you', 'tasks', 'fleet', 'tokens', 'agents']

/** One run that has ended after a commit, and one agent that asks; tests that change this or restart the hub come last. */
const shared = perFile(async () => {
  const fleet = parcelworks()
  const first = ["sed -i 1d src/auth/mfa.ts; git commit --quiet --message 'one line less' src/auth/mfa.ts"]
  await fleet.start({ id: 'onyx-raven', screen: 'all done', first, ends: 0 })
  await until('the run to be closed', () => fleet.runs().length === 1 && fleet.sheets().length === 0)
  const [ended = ''] = fleet.runs()
  await fleet.start({
    id: 'amber-otter',
    task: ['T-1', 'safe\u202egnp.exe'],
    screen: 'Which?',
    does: [asks('question', 'Which?')],
  })
  const live = fleet.runs().find((run) => run !== ended) ?? ''
  const hub = await startHub(fleet, fleet.more)
  return { fleet, hub, ended, live }
}, 300_000)

/** Resolves when the part shows the text. */
const sees = (page: Page, part: string, text: string | RegExp): Promise<void> =>
  page.locator(part).filter({ hasText: text }).first().waitFor()

/** The text of the screen once nothing is loading; polled, since the content policy of the page allows no `waitForFunction`. */
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

test('every screen says what it does not know, and the next one works', async () => {
  const { hub, live: run } = shared()
  const visitor = await visit(hub)
  const { page } = visitor
  await page.locator('.needs-you_inbox-row').first().waitFor()
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
  await page.locator('.needs-you_wait-pane').getByText('This wait is not open').waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('z')
  await visitor.go('#/tasks/nobody')
  await page.getByText('No such task').waitFor()
  expect(await page.locator('.tasks_routing').count()).toBe(0)
  await visitor.go('#/needs-you')
  await page.locator('.needs-you_wait-pane .answer-buttons').waitFor()
  await page.locator('.needs-you_inbox-row', { hasNotText: 'snoozed' }).waitFor()

  // A range that was cut, of another century, or the wrong way round is none.
  for (const range of ['from=abc', 'from=2', 'to=', 'from=0001-01-01&to=9999-01-01', `from=${'9'.repeat(400)}`]) {
    await visitor.go(`#/timeline/${run}?${range}`)
    await page.locator('.timeline_run-head', { hasText: 'Run of amber-otter' }).waitFor()
    await page.keyboard.press('-')
    await visitor.go('#/fleet')
    await page.locator('.fleet_card', { hasText: 'amber-otter' }).waitFor()
  }
  // A key leads back, and never away.
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Escape')
  expect(page.url()).toContain(hub.url)
  expect(visitor.complaints).toEqual([])

  await page.goto(`${hub.url}/?project=nobody`)
  await page.getByText('The hub does not show this project').waitFor()
  await page.locator('#main').getByRole('link').first().click()
  await page.locator('.needs-you_inbox-row').first().waitFor()
})

test('a link that was used or cut says so, and the next one in the same tab works', async () => {
  const { hub } = shared()
  const used = await hub.link()
  await (await (await profile()).newPage()).goto(used)
  const links = [used, `${hub.url}/#key=%E0%A4%A`, `${hub.url}/#key=`, used.slice(0, -5)]
  for (const link of links.slice(0, scaled(2, links.length))) {
    const page = await (await profile()).newPage()
    const failures: string[] = []
    page.on('pageerror', (error) => failures.push(String(error)))
    await page.goto(link)
    await page.getByRole('alert').waitFor()
    expect(page.url()).not.toContain('key=')
    // Only what stands after the # changes: the page is not loaded again.
    await page.goto(await hub.link())
    await page.locator('.shell_foot .shell_live-dot:not(.shell_off)').waitFor()
    expect(page.url()).not.toContain('key=')
    expect(failures).toEqual([])
  }
})

test('a browser with a wrong clock and an invalid locale shows times by the hub’s clock', async () => {
  const visitor = await visit(
    shared().hub,
    {},
    `
    Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix', configurable: true })
    const Real = Date
    const off = 3_600_000
    class Wrong extends Real {
      constructor(...of) { of.length === 0 ? super(Real.now() - off) : super(...of) }
      static now() { return Real.now() - off }
    }
    window.Date = Wrong`,
  )
  const { page } = visitor
  await sees(page, 'h1', '1 waits for you')
  // Ages are by the hub's clock: seconds or a few minutes, not an hour; and the difference is said.
  expect(await page.locator('.needs-you_inbox-row .age').first().innerText()).toMatch(/^\d+ (s|min)( \d+ s)?$/)
  await sees(page, '.shell_foot', /this browser is 3,?[56]\d\d\.\d s behind|times are the hub’s/)
  await visitor.go(`#/timeline/${shared().live}`)
  await sees(page, '.timeline_run-head', 'Run of amber-otter')
  await page.locator('canvas.timeline_lanes').waitFor()
  await sees(page, '.timeline_timeline-legend', 'behind')
  // A mark that reverses letters is shown as what cannot be shown, and reverses nothing.
  await visitor.go('#/fleet')
  await sees(page, '.fleet_card-task', 'safe\ufffdgnp.exe')
  await visitor.go('#/tokens')
  await sees(page, '#main', 'Tokens per hour')

  // At sunset the system turns dark, or light: what is drawn by hand turns with it.
  await visitor.go('#/claims')
  await page.locator('.claims_map canvas').waitFor()
  const brightest = (): Promise<number> =>
    page.evaluate<number>(`(() => {
      const map = document.querySelector('.claims_map canvas')
      return Math.max(...map.getContext('2d').getImageData(0, 40, map.width, 1).data.filter((_, i) => i % 4 === 1))
    })()`)
  await until('the map to be dark', async () => (await brightest()) < 200)
  await page.emulateMedia({ colorScheme: 'light' })
  await until('the map to be light', async () => (await brightest()) > 220)
  expect(visitor.complaints).toEqual([])
})

/** The elements that Tab focuses, in order. */
async function tabbed(page: Page): Promise<string[]> {
  const passed: string[] = []
  for (let steps = 0; steps < 12; steps += 1) {
    await page.keyboard.press('Tab')
    const at = "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
    passed.push(await page.evaluate<string>(at))
  }
  return passed
}

test('Tab leads past a recording, and past a terminal that is only watched', async () => {
  const { hub, ended } = shared()
  const visitor = await visit(hub)
  const { page } = visitor
  await visitor.go(`#/timeline/${ended}`)
  await page.locator('.timeline_run-changes .diff').getByText('// mfa').first().waitFor()
  await page.getByRole('button', { name: 'Play its terminal' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.player').getByText('all done').waitFor()
  const passed = await tabbed(page)
  expect(passed).toContain('Place in the recording')
  expect(passed.join('\n')).toContain('src/auth/mfa.ts')

  await visitor.go('#/session/amber-otter')
  await page.locator('.session_terminal-body[data-live=true]').waitFor()
  await page.getByRole('button', { name: /Take the keyboard/ }).focus()
  expect((await tabbed(page)).join('\n')).toContain('Changes')
  expect(visitor.complaints).toEqual([])
})

test('more tabs than connections are live at once, also after the hub was stopped and started', async () => {
  const { fleet, ended } = shared()
  let { hub } = shared()
  const { page: first } = await visit(hub)
  const visitor = await visit(hub)
  const { page } = visitor
  const left = [page]
  // A browser keeps six connections to one host.
  while (left.length < scaled(7, 19)) {
    const tab = await first.context().newPage()
    await tab.goto(`${hub.url}/#/${left.length % 2 === 0 ? 'fleet' : 'needs-you'}`)
    await tab.locator('.shell_foot .shell_live-dot:not(.shell_off)').waitFor()
    left.push(tab)
  }
  for (const tab of [first, ...left]) await sees(tab, '.shell_top .shell_sums', '1 waits for you')
  // The first tab is closed, and the others stay live.
  await first.close()
  await fleet.start({ id: 'ivory-lynx', screen: 'Which currency?', does: [asks('question', 'Which currency?')] })
  for (const tab of left) await sees(tab, '.shell_top .shell_sums', '2 wait for you')
  for (const tab of left.filter((one) => one.url().includes('fleet')).slice(0, 2))
    await sees(tab, '.fleet_thumb', 'Which currency?')

  // What one of them requests while the hub is stopped is loaded when it is back.
  await visitor.go('#/timeline')
  await page.getByRole('row', { name: /onyx-raven/ }).waitFor()
  await hub.stop()
  for (const tab of left) await sees(tab, '.shell_foot', 'Not live')
  await visitor.go(`#/timeline/${ended}`)
  await sees(page, '#main', 'HUB_NOT_REACHED')
  const port = ['--port', new URL(hub.url).port]
  hub = await startHub(fleet, fleet.more, port)
  for (const tab of left) await tab.locator('.shell_foot .shell_live-dot:not(.shell_off)').waitFor()
  await sees(page, '.timeline_run-head', 'Run of onyx-raven')
  await fleet.run('hm', ['send', 'ivory-lynx', 'EUR', '--enter'], { env: fleet.more })
  for (const tab of left) await sees(tab, '.shell_top .shell_sums', '1 waits for you')

  // So is a screen whose code was not loaded before.
  await hub.stop()
  await page.locator('.shell_foot .shell_live-dot.shell_off').waitFor()
  await visitor.go('#/claims')
  await sees(page, '#main', 'Loading this screen')
  await startHub(fleet, fleet.more, port)
  await page.locator('.claims_map canvas').waitFor()
  expect(visitor.complaints).toEqual([])
})
