// A recording that was played, and a terminal that was only looked at, took Tab for themselves: whoever has no mouse did not get out of them.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { browser, visit } from '../page/look.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'

/** What is reached, one after the other. */
async function tabbed(page: Page): Promise<string[]> {
  const passed: string[] = []
  for (let steps = 0; steps < 12; steps += 1) {
    await page.keyboard.press('Tab')
    const at = "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
    passed.push(await page.evaluate<string>(at))
  }
  return passed
}

test('Tab leads past a recording, and past a terminal that one only looks at', { timeout: 300_000 }, async () => {
  const fleet = parcelworks()
  const first = ["sed -i 1d src/auth/mfa.ts; git commit --quiet --message 'one line less' src/auth/mfa.ts"]
  await fleet.start({ id: 'onyx-raven', screen: 'all done', first, ends: 0 })
  await until('the run to be closed', () => fleet.runs().length === 1 && fleet.sheets().length === 0)
  await fleet.start({ id: 'amber-otter', screen: 'at work', isIdle: true })
  const visitor = await visit(await browser(), await startHub(fleet, fleet.more))
  const { page } = visitor
  const { runs } = await visitor.get<{ runs: { run_id: string; agent_id: string }[] }>('/api/runs')
  await visitor.go(`#/timeline/${runs.find(({ agent_id: id }) => id === 'onyx-raven')?.run_id ?? ''}`)
  await page.locator('.run-changes .diff').getByText('// mfa').first().waitFor()
  await page.getByRole('button', { name: 'Play its terminal' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.player').getByText('all done').waitFor()
  const passed = await tabbed(page)
  expect(passed).toContain('Place in the recording')
  expect(passed.join('\n')).toContain('src/auth/mfa.ts')

  await visitor.go('#/session/amber-otter')
  await page.locator('.terminal-body[data-live=true]').waitFor()
  await page.getByRole('button', { name: /Take the keyboard/ }).focus()
  expect((await tabbed(page)).join('\n')).toContain('Changes')
  expect(visitor.complaints).toEqual([])
})
