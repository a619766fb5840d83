// Bad days of the page in a real browser: names in every script, windows of every size, clocks that disagree.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asks } from '../support/sample-agents.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'
import { browser, visit } from './look.ts'

const TITLES = {
  'arabic-owl': 'إصلاح الفاتورة',
  'hebrew-owl': 'תיקון החשבונית',
  'thai-owl': 'แก้ไขใบแจ้งหนี้',
  'emoji-owl': '👩‍👩‍👧‍👦 请修复发票 Исправить',
  'sly-owl': 'safe\u202egnp.exe\u200b\u200c\u2066hidden',
  'long-owl': 'x'.repeat(10_000),
} as const

const PLACES = ['#/needs-you', '#/fleet', '#/claims', '#/decisions', '#/timeline', '#/tasks', '#/tokens'] as const
const SIZES = {
  phone: { width: 390, height: 844 },
  // 1280 by 800 at 200 %.
  zoomed: { width: 640, height: 400 },
  laptop: { width: 1440, height: 900 },
  wall: { width: 3840, height: 2160 },
} as const

/** Resolves when the part shows the text. */
const sees = (page: Page, part: string, text: string | RegExp): Promise<void> =>
  page.locator(part).filter({ hasText: text }).first().waitFor()

/** What reaches beyond the window to the right, by class, unless it may be scrolled there. */
const WIDER = `[...document.querySelectorAll('#main *, .top *, .tabs *')].filter((e) => {
  const box = e.getBoundingClientRect()
  if (box.width === 0 || box.height === 0 || box.right <= innerWidth + 1) return false
  for (let up = e; up !== null && up.id !== 'root'; up = up.parentElement)
    if (/auto|scroll|hidden/.test(getComputedStyle(up).overflowX) && up.getBoundingClientRect().right <= innerWidth + 1 && up.id !== 'main') return false
  return true
}).map((e) => e.className || e.tagName).slice(0, 5)`

test('names in every script and worse, at every size', { timeout: 600_000 }, async () => {
  const fleet = parcelworks()
  for (const [id, title] of Object.entries(TITLES))
    await fleet.start({
      id,
      task: [`T-${id}`, title],
      claims: [`src/${id}.ts`],
      screen: `${title.slice(0, 200)}\n1. ${title.slice(0, 30)}\n2. no`,
      // A terminal takes a status of so many bytes, and what a note says is longer.
      does: [asks('question', title.slice(0, 500))],
    })
  let hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const visitor = await visit(chromium, hub)
  const { page } = visitor
  await sees(page, 'h1', '6 wait for you')
  // Each stands in its own line, and turns nothing around it: what hides or reverses is not shown.
  for (const title of [TITLES['arabic-owl'], TITLES['thai-owl'], '请修复发票 Исправить'])
    await sees(page, '.inbox-row .title', title)

  for (const [size, box] of Object.entries(SIZES)) {
    await page.setViewportSize(box)
    for (const place of [...PLACES, '#/session/emoji-owl', '#/session/long-owl']) {
      await visitor.go(place)
      await until('the screen to be drawn', async () => (await page.locator('#main').innerText()).length > 20)
      expect(await page.locator('#main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      expect({ size, place, wider: await page.evaluate(WIDER) }).toEqual({ size, place, wider: [] })
    }
    await visitor.go('#/fleet')
    await visitor.picture(`fleet-${size}`)
  }
  await page.setViewportSize(SIZES.laptop)
  expect(visitor.complaints).toEqual([])
})

test('a clock that is wrong, and a language that is none', { timeout: 300_000 }, async () => {
  const fleet = parcelworks()
  await fleet.start({
    id: 'amber-otter',
    task: ['T-1', 'safe\u202egnp.exe'],
    screen: 'Which?',
    does: [asks('question', 'Which?')],
  })
  const hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const visitor = await visit(
    chromium,
    hub,
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
  expect(await page.locator('.inbox-row .age').first().innerText()).toMatch(/^\d+ (s|min)$/)
  await sees(page, '.foot', /this browser is 3,?[56]\d\d\.\d s behind|times are the hub’s/)
  const { runs } = await visitor.get<{ runs: { run_id: string }[] }>('/api/runs')
  await visitor.go(`#/timeline/${runs[0]?.run_id ?? ''}`)
  await sees(page, '.run-head', 'Run of amber-otter')
  await page.locator('canvas.lanes').waitFor()
  await sees(page, '.timeline-legend', 'behind')
  // A mark that reverses letters is shown as what cannot be shown, and reverses nothing.
  await visitor.go('#/fleet')
  await sees(page, '.card-task', 'safe\ufffdgnp.exe')
  await visitor.go('#/tokens')
  await sees(page, '#main', 'Tokens per hour')

  // At sunset the system turns dark, or light: what is drawn by hand turns with it.
  await visitor.go('#/claims')
  await page.locator('.map canvas').waitFor()
  const brightest = (): Promise<number> =>
    page.evaluate<number>(`(() => {
      const map = document.querySelector('.map canvas')
      return Math.max(...map.getContext('2d').getImageData(0, 40, map.width, 1).data.filter((_, i) => i % 4 === 1))
    })()`)
  await until('the map to be dark', async () => (await brightest()) < 200)
  await page.emulateMedia({ colorScheme: 'light' })
  await until('the map to be light', async () => (await brightest()) > 220)
  expect(visitor.complaints).toEqual([])
})
