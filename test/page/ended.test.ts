// The page after all runs have ended: what it says of them on one screen is what it says on the others.
import { expect, test } from 'vitest'
import type { WaitsReply } from '../../src/hub/contract.ts'
import { calls } from '../support/sample-agents.ts'
import { ofType } from '../support/shim-client.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'
import { visit } from './look.ts'

test('runs that are over: killed, done after a collision, and what is said of them', async () => {
  const project = parcelworks()
  await project.start({ id: 'ivory-lynx', claims: ['src/billing/**'], screen: 'at work' })
  await until('the holder to hold', async () => (await project.claims()).length > 0)
  await project.start({ id: 'amber-otter', screen: 'Go on? [y/N]', does: [] })
  await project.start({
    id: 'teal-badger',
    task: ['T-2', 'Tax rules'],
    screen: '',
    does: [
      'heimdall claim src/billing/tax.ts >/dev/null 2>&1',
      calls('files', [['read_file', { path: 'docs/api.md' }]]),
      'heimdall task done T-2 --summary done >/dev/null',
    ],
    ends: 0,
  })
  const has = (agent: string, type: string): boolean =>
    project.runs().some((run) => ofType(project.events(run), type).some(({ agent_id: id }) => id === agent))
  await until(
    'one to wait, one to be done',
    () => has('amber-otter', 'wait_start') && has('teal-badger', 'session_end'),
  )
  await project.run('hm', ['kill', 'amber-otter'])
  await project.run('hm', ['kill', 'ivory-lynx'])
  await until('all to be over', () => project.sheets().length === 0)

  const visitor = await visit(await startHub(project, project.more))
  const { page } = visitor
  // The records are read into the index meanwhile; whoever opens a screen afterwards has all of it.
  await visitor.go('#/tokens')
  let told = ''
  await until(
    'the end of the wait to be told',
    async () => {
      const { answered } = await visitor.get<WaitsReply>('/api/waits')
      told = JSON.stringify(answered)
      return answered.length > 0
    },
    { context: () => told },
  )
  await visitor.go('#/needs-you')
  await page.locator('.needs-you_answered', { hasText: 'Killed before an answer: hm kill by' }).waitFor()
  await page.getByText(/Last wait over/).waitFor()
  expect(await page.locator('.needs-you_needs-sums').innerText()).not.toContain('answered')
  expect(await page.locator('.shell_foot').innerText()).toContain('no run is under a policy now')
  await visitor.picture('ended-needs-you')

  await visitor.go('#/fleet')
  const card = (agent: string) => page.locator(`[data-agent="${agent}"]`)
  await card('amber-otter').getByText('Cancelled').waitFor()
  await card('teal-badger').getByText('Tax rules').waitFor()
  await visitor.picture('ended-fleet')

  await visitor.go('#/timeline')
  const row = page.getByRole('row', { name: /teal-badger/ })
  await row.getByText(/\d m?s for an agent/).waitFor()
  expect(await row.innerText()).not.toContain('for you')
  await page
    .getByRole('row', { name: /amber-otter/ })
    .getByText(/for you/)
    .waitFor()
  await visitor.picture('ended-timeline')
  await row.getByRole('link').first().click()
  await page.locator('.timeline_run-sums', { hasText: 'Waited for an agent' }).waitFor()

  await visitor.go('#/decisions')
  await page.getByText('the run ended', { exact: true }).waitFor()
  await page.getByText(/^1 call since/).waitFor()
  await visitor.picture('ended-decisions')
  expect(visitor.complaints).toEqual([])
})
