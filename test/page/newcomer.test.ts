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
  await tasksByTheirAgents(desk, phone)
  await wordsOfARun(desk)
  await changesOfSeveral(desk)
  await waitsToldApart(desk)
  await theRail(desk, phone)
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

/** What an agent is that has a task is said beside the task's own state. */
async function tasksByTheirAgents(desk: Visitor, phone: Visitor): Promise<void> {
  await desk.go('#/tasks')
  for (const [task, state] of [
    ['BILL-80', 'Running, collision'],
    ['CARR-17', 'Running, needs you'],
    ['HTTP-12', 'Left open, its agent is done'],
    ['RATE-55', 'Left open, its agent failed'],
  ] as const)
    await desk.page
      .getByRole('row', { name: new RegExp(task) })
      .getByText(state)
      .waitFor()
  expect(await desk.page.locator('.tasks .page-head').innerText()).not.toContain('0 done')
  await phone.go('#/tasks')
  const answer = phone.page.locator('.routing').getByText('Gets it: cheaper tier')
  await answer.waitFor()
  const at = await answer.boundingBox()
  expect((at?.x ?? PHONE.width) + (at?.width ?? 0)).toBeLessThan(PHONE.width)
}

/** No word stands twice; a call that was made again and again is one entry. */
async function wordsOfARun(desk: Visitor): Promise<void> {
  const { page } = desk
  for (const [agent, text] of [
    ['teal-badger', /Incursion\s*teal-badger wanted src\/billing\/invoice.ts, which ivory-lynx holds/],
    ['slate-heron', /Needs input\s*to ivory-lynx: DHL sandbox key expired/],
    ['plum-weasel', /Called\s*fs · read_file, 9 times/],
  ] as const) {
    await desk.go('#/timeline')
    await page
      .getByRole('row', { name: new RegExp(agent) })
      .getByRole('link')
      .first()
      .click()
    await page.locator('.happened-list li').filter({ hasText: text }).waitFor()
  }
}

async function changesOfSeveral(desk: Visitor): Promise<void> {
  const { page } = desk
  // It holds src/auth; what others changed stands in the same list, after that.
  await desk.go('#/session/amber-otter')
  await page.getByText(/Shared working tree: \d+ agents work here/).waitFor()
  const paths = await page.locator('.changes-files li .mono').allInnerTexts()
  expect(paths.slice(0, 2).every((path) => path.startsWith('src/auth/'))).toBe(true)
  expect(paths).toContain('src/webhooks/retry.ts')
}

async function waitsToldApart(desk: Visitor): Promise<void> {
  const { page } = desk
  await desk.go('#/needs-you')
  // One escape leaves the field, and not the screen.
  await page.getByLabel('Project').focus()
  await page.keyboard.press('Escape')
  expect(await page.evaluate('[location.hash, document.activeElement.tagName]')).toEqual(['#/needs-you', 'BODY'])
  await page.locator('.inbox-row', { hasText: 'Tool changed' }).click()
  await page.getByRole('button', { name: /Leave it refused/ }).click()
  await page.locator('.inbox-row', { hasText: 'Tool changed' }).getByText(/later/).waitFor()
}

/** The past is chosen and says so; now leads back to where one was. */
async function theRail(desk: Visitor, phone: Visitor): Promise<void> {
  const { page } = desk
  await desk.go('#/session/rust-marten')
  await page.getByRole('button', { name: 'Past…' }).click()
  await page.getByRole('button', { name: 'Past…', pressed: true }).waitFor()
  await page.getByRole('button', { name: 'Now', exact: true }).click()
  await page.waitForFunction("location.hash === '#/session/rust-marten'")
  await page.getByRole('button', { name: /Density/ }).click()
  const foot = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.rail-foot'))"
  expect(await page.evaluate(foot)).toBe(0)
  const tabs = phone.page.getByRole('navigation', { name: 'Screens, at the thumb' })
  for (const screen of ['Timeline', 'Tasks', 'Tokens']) {
    await tabs.getByRole('link', { name: screen }).tap()
    await phone.page.waitForFunction(`location.hash === '#/${screen.toLowerCase()}'`)
  }
}
