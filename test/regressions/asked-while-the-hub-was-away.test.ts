// A part of the page that was asked for while the hub was away said so for ever: it was not asked for again when the hub came back.
import { expect, test } from 'vitest'
import { browser, visit } from '../page/look.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'

test('what could not be asked while the hub was away is there when it is back', { timeout: 300_000 }, async () => {
  const fleet = parcelworks()
  await fleet.start({ id: 'onyx-raven', screen: 'done', ends: 0 })
  await until('the run to be closed', () => fleet.runs().length === 1 && fleet.sheets().length === 0)
  const hub = await startHub(fleet, fleet.more)
  const visitor = await visit(await browser(), hub)
  const { page } = visitor
  const { runs } = await visitor.get<{ runs: { run_id: string }[] }>('/api/runs')
  // This screen is loaded by now, and the next one is not.
  await visitor.go('#/timeline')
  await page.getByRole('row', { name: /onyx-raven/ }).waitFor()
  await hub.stop()
  await visitor.go(`#/timeline/${runs[0]?.run_id ?? ''}`)
  await page.locator('#main').getByText('HUB_NOT_REACHED').first().waitFor()
  const port = ['--port', new URL(hub.url).port]
  const again = await startHub(fleet, fleet.more, port)
  await page.locator('.run-head').getByText('Run of onyx-raven').waitFor()

  // Nor is a screen lost that was to be loaded then.
  await again.stop()
  await page.locator('.foot .live-dot.off').waitFor()
  await visitor.go('#/claims')
  await page.locator('#main').getByText('Loading this screen').first().waitFor()
  await startHub(fleet, fleet.more, port)
  await page.locator('.map canvas').waitFor()
  expect(visitor.complaints).toEqual([])
})
