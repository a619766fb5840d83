// What somebody who sees the page for the first time stumbled over: each is done here as they did it.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { parcelworks, startHub, startSampleFleet } from '../support/sample-fleet.ts'
import { startSampleWorkers } from '../support/sample-workers.ts'
import { browser, visit, type Visitor } from './look.ts'

const TABS_PX = 66
const PHONE = { width: 390, height: 844 }

test('what a newcomer does on the page leads somewhere', { timeout: 600_000 }, async () => {
  const fleet = parcelworks()
  await startSampleFleet(fleet, 10)
  await startSampleWorkers(fleet)
  const hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const desk = await visit(chromium, hub)
  const phone = await visit(chromium, hub, { hasTouch: true })
  await phone.page.setViewportSize(PHONE)

  await aCallOnAPhone(phone)
  await keysBesideATerminal(desk)
  expect([...desk.complaints, ...phone.complaints]).toEqual([])
})

/** Nothing scrolls but what is inside the frame: the tabs stay where the thumb is. */
const overhang = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollHeight - document.documentElement.clientHeight')

async function aCallOnAPhone(phone: Visitor): Promise<void> {
  const { page } = phone
  await phone.go('#/decisions')
  await page.locator('.long-row a').nth(2).tap()
  const detail = page.locator('.call-detail')
  await detail.getByText('It asked').waitFor()
  await detail.getByText('What it did next').scrollIntoViewIfNeeded()
  const at = await detail.getByText('What it did next').boundingBox()
  expect(at?.y).toBeLessThan(PHONE.height - TABS_PX)
  expect(await overhang(page)).toBe(0)
  await page.getByRole('link', { name: 'All calls' }).tap()
  await page.locator('.long-row a').nth(2).waitFor()
  await detail.waitFor({ state: 'hidden' })
  expect(await overhang(page)).toBe(0)
}

async function keysBesideATerminal(desk: Visitor): Promise<void> {
  const { page } = desk
  const screen = page.locator('.terminal .xterm-screen')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await desk.go('#/fleet')
  await desk.go('#/session/plum-weasel')
  await page.locator('.terminal-body[data-live=true]').waitFor()
  // One that is only watched has no use for keys, and leaves them to the page.
  await screen.click()
  await page.keyboard.press('?')
  await help.waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await screen.click()
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement.closest('.xterm') === null")).toBe(true)
  // Taken, it says how it is left, and is.
  await screen.click()
  await page.keyboard.press('i')
  const giveBack = page.getByRole('button', { name: 'Give it back' }).filter({ hasText: 'Esc Esc' })
  await giveBack.waitFor()
  await page.keyboard.press('?')
  expect(await help.count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await giveBack.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await help.waitFor()
  await page.keyboard.press('Escape')
  await screen.click()
  await page.keyboard.press('Escape')
  await page.waitForFunction("location.hash === '#/fleet'")
}
