// The dashboard in a real browser, on a real hub with a fleet like that of the design's pictures: each screen, each act, live, by keyboard, in both themes.
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { parcelworks, type SampleFleet, startHub, startSampleFleet } from '../support/sample-fleet.ts'
import { asks } from '../support/sample-agents.ts'
import { QUEUED_TASK, startSampleWorkers } from '../support/sample-workers.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { browser, SEEN_MS, visit, type Visitor } from './look.ts'

/** Resolves when the page shows the text in the part; it is never loaded anew for it. */
async function sees(page: Page, part: string, text: string | RegExp): Promise<void> {
  const seen = page.locator(part).filter({ hasText: text }).first().waitFor({ timeout: SEEN_MS })
  await seen.catch(async () =>
    expect.soft(await page.locator('body').innerText()).toContain(`${part} with ${String(text)}`),
  )
  await seen
}

/** Everything in one theme; in the other what alone differs there, which is colour. */
async function axe({ page }: Visitor, where: string): Promise<void> {
  for (const theme of ['dark', 'light']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
    const builder = new AxeBuilder({ page })
    const { violations } = await (
      theme === 'dark'
        ? builder.withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        : builder.withRules(['color-contrast'])
    ).analyze()
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    expect({ where, theme, found }).toEqual({ where, theme, found: [] })
  }
}

test('who waits, what each one does, and what can be done about it', { timeout: 900_000 }, async () => {
  const fleet = parcelworks()
  await startSampleFleet(fleet, scaled(10, 24))
  await startSampleWorkers(fleet)
  const hub = await startHub(fleet, fleet.more)
  const chromium = await browser()
  const visitor = await visit(chromium, hub)
  const { page } = visitor
  await sees(page, 'h1', '6 wait for you')
  for (const word of ['Permission', 'Question', 'Needs input', 'Collision', 'Budget', 'Tool changed'])
    await sees(page, '.inbox-row', word)
  await sees(page, '.screen-now', /[a-z]/)
  await visitor.picture('01-needs-you')
  await axe(visitor, 'needs you')

  await changesByThemselves(fleet, page)
  await eachScreen(visitor)
  await answers(fleet, visitor)
  await takesTheKeyboard(fleet, visitor)
  await tasksAndRuns(visitor)
  await yesterday(visitor)
  await axe(visitor, 'a run that is over')

  expect(visitor.complaints).toEqual([])
})

/** What commands do elsewhere is on the page without a word to it. */
async function changesByThemselves(fleet: SampleFleet, page: Page): Promise<void> {
  await fleet.start({ id: 'late-comer', screen: 'Which currency?', does: [asks('question', 'Which currency?')] })
  await sees(page, 'h1', '7 wait for you')
  await sees(page, '.inbox-row', 'Which currency?')
  expect(await page.title()).toBe('(7) Heimdall')
  await fleet.run('hm', ['send', 'late-comer', 'EUR', '--enter'], { env: fleet.more })
  await sees(page, 'h1', '6 wait for you')
}

async function eachScreen(visitor: Visitor): Promise<void> {
  const { page } = visitor
  // By keys alone, from here to there.
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await sees(page, '.card.collision', 'teal-badger')
  await sees(page, '.card.looping', /Same call 9 times/)
  await sees(page, '.thumb', 'read_file src/queue/drain.ts')
  await visitor.picture('02-fleet')
  await axe(visitor, 'fleet')
  await page.getByRole('button', { name: 'Table' }).click()
  await sees(page, '.table', 'cobalt-harbor')

  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await sees(page, '.path-detail', 'Two agents want one path')
  await sees(page, '.tree', 'invoice.ts')
  await page.locator('.map canvas').waitFor()
  await visitor.picture('04-claims')
  await axe(visitor, 'claims')

  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await sees(page, 'h1', 'Decisions')
  // Of one of those that were refused something.
  await visitor.go('#/decisions?agent=rust-marten')
  await page.getByRole('button', { name: /^Refused/ }).click()
  await sees(page, '.call-detail', 'say what is left and stop')
  await visitor.picture('05-decisions')
  await axe(visitor, 'decisions')
  await page.getByRole('link', { name: 'Show on timeline' }).click()
  await sees(page, '.run-head', 'Run of rust-marten')
  await page.keyboard.press('+')
  await page.waitForFunction("location.hash.includes('from=')")
  await page.keyboard.press('0')
  await page.waitForFunction("!location.hash.includes('from=')")
  await byTheStrip(page)
  await visitor.picture('06-timeline')
  await axe(visitor, 'timeline')

  await costAndWaits(page)
  await changedSince(visitor)
  // Which worker gets the next task, and why not another.
  const routing = [
    `Why hazel-mole gets ${QUEUED_TASK.id}`,
    '2 of 3 workers can do it: cheapest tier first',
    'nobody brings tasks now: heimdall dispatch serve',
    'Gets it: cheaper tier',
    'Could: dearer tier',
    'Cannot: tier too low',
  ]
  for (const [key, name, part, texts] of [
    ['k', '07-tasks', '.page-head', [/1 queued, \d+ running, 2 left open/]],
    ['k', '07-tasks', '.routing', routing],
    ['o', '14-tokens', '.tokens-sums', [/\$0\.\d\d/]],
    // One that has ended has cost something, too.
    ['o', '14-tokens', '#main', [/onyx-raven\s*40,160/]],
  ] as const) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    for (const text of texts) await sees(page, part, text)
    await visitor.picture(name)
    await axe(visitor, name)
  }

  await page.keyboard.press('/')
  await page.keyboard.type('invoice')
  await sees(page, '.search-row', 'teal-badger')
  await sees(page, '.search-row', 'src/billing/invoice.ts')
  await visitor.picture('08-search')
  await axe(visitor, 'search')
  await page.keyboard.press('Enter')
  await page.waitForFunction("location.hash.includes('badger')")
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
}

/** What a run cost, from the transcript of its host, and how long it waited for somebody. */
async function costAndWaits(page: Page): Promise<void> {
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page
    .getByRole('row', { name: /amber-otter/ })
    .getByRole('link')
    .first()
    .click()
  await sees(page, '.run-head', 'Run of amber-otter')
  // The recorded session, five times: five times what its host counted, without its subagent.
  await sees(page, '.run-sums', 'Tokens50,200')
  await sees(page, '.run-sums', /Cost\$0\.0\d/)
  await sees(page, '.run-sums', /Waited for you.*1 wait/)
  await sees(page, '.timeline-tokens', 'transcripts of its host')
}

/** Since when is in the address, chosen by keys; what the list rests on is said below it. */
async function changedSince(visitor: Visitor): Promise<void> {
  const { page } = visitor
  await visitor.go('#/session/amber-otter')
  const files = page.locator('.changes-files')
  await files.getByText('src/auth/family.ts').waitFor()
  await files.getByText('src/auth/refresh.ts').waitFor()
  // What was refused to it stands in its conversation, with what it did then.
  await sees(page, '.talk-row', /Refused with a hint.*git · push ao\/refresh-rotation.*rule no-force.*other arguments/)
  await sees(page, '.changes-basis', 'as was noted then')
  await sees(page, '.changes-shared', /Shared working tree: \d+ agents work here; git does not tell whose a change is/)
  await page.getByLabel('since').focus()
  await page.keyboard.press('ArrowDown')
  await files.getByText('src/auth/family.ts').waitFor({ state: 'detached' })
  await page.waitForFunction("location.hash.includes('since=HEAD')")
  await page.getByLabel('since').selectOption('commit')
  // Its field is the next that Tab leads to.
  await page.keyboard.press('Tab')
  await page.keyboard.type('nowhere')
  await page.keyboard.press('Enter')
  await sees(page, '.lower', 'neither a time nor a commit')
  await visitor.go('#/session/amber-otter?since=2001-01-01T00:00:00Z')
  await sees(page, '.changes-basis', 'no reflog reaches back so far')
}

/** The strip above the lanes shows the whole run: its frame is drawn in by an end, moved by its middle, and pressed twice for all of it. */
async function byTheStrip(page: Page): Promise<void> {
  const strip = await page.locator('.overview').boundingBox()
  if (strip === null) throw new Error('no strip above the timeline')
  const at = (share: number): readonly [number, number] => [strip.x + strip.width * share, strip.y + strip.height / 2]
  const draw = async (from: number, to: number): Promise<void> => {
    await page.mouse.move(...at(from))
    await page.mouse.down()
    await page.mouse.move(...at(to))
    await page.mouse.up()
  }
  const shares = (): Promise<number[]> =>
    page.evaluate<number[]>(`(() => {
      const [all, part] = ['.overview', '.overview-part'].map((it) => document.querySelector(it).getBoundingClientRect())
      return [(part.left - all.left) / all.width, (part.right - all.left) / all.width]
    })()`)
  const reach = async (from: number, to: number): Promise<void> =>
    void (await until('the frame', async () => {
      const [left = 0, right = 0] = await shares()
      return Math.abs(left - from) < 0.05 && Math.abs(right - to) < 0.05
    }))
  await reach(0, 1)
  await draw(0.998, 0.5)
  await reach(0, 0.5)
  await page.waitForFunction("location.hash.includes('to=')")
  await draw(0.25, 0.5)
  await reach(0.25, 0.75)
  await page.mouse.dblclick(...at(0.5))
  await page.waitForFunction("!location.hash.includes('to=')")
  await reach(0, 1)
}

/** Each kind of answer, once; the wait goes by itself. */
async function answers(fleet: SampleFleet, visitor: Visitor): Promise<void> {
  const { page } = visitor
  const open = async (agent: string): Promise<void> => {
    await visitor.go('#/needs-you')
    await page.locator('.inbox-row', { hasText: agent }).click()
    await page.locator('.inbox-row[aria-current]', { hasText: agent }).waitFor()
  }
  const leaves = (agent: string): Promise<void> =>
    page.locator('.inbox-row', { hasText: agent }).waitFor({ state: 'detached', timeout: SEEN_MS })

  await open('amber-otter')
  // In the words of its host, as they stand on its screen.
  await page.locator('.wait-pane').getByRole('button', { name: 'Keep it, answer with a Sunset header' }).waitFor()
  expect(await page.locator('.wait-pane .answer-buttons .button').count()).toBe(3)
  await sees(page, '.wait-foot', 'types that choice into the session; no record names who typed')
  await page.keyboard.press('1')
  await leaves('amber-otter')
  await open('slate-heron')
  await page.getByRole('button', { name: /Accept/ }).click()
  await leaves('slate-heron')
  await visitor.go('#/session/slate-heron')
  await sees(page, '.note-state', /Accepted .* by a human/)
  await visitor.picture('03-session')
  await axe(visitor, 'session')

  await open('Tool changed')
  await page.getByRole('button', { name: /Approve/ }).click()
  await page.getByRole('group', { name: 'Sure?' }).getByRole('button').first().click()
  await leaves('Tool changed')

  await open('teal-badger')
  await sees(page, '.wait-foot', 'Answers are recorded as human, with the time')
  await page.keyboard.press('1')
  await sees(page, '.answer-outcome', 'whom no record names')

  await open('rust-marten')
  await page.keyboard.press('z')
  await sees(page, '.inbox-row', 'later')
  const { stdout } = await fleet.run('heimdall', ['status', '--json'], { env: fleet.more })
  expect(stdout).toContain('"later_until":"2')
}

/** A task is taken back, and another sent and done; a run is decided again, and its terminal plays beside its events. */
async function tasksAndRuns(visitor: Visitor): Promise<void> {
  const { page } = visitor
  await visitor.go(`#/tasks/${QUEUED_TASK.id}`)
  await page.locator('.routing').getByRole('button', { name: 'Cancel' }).click()
  await sees(page, '.table', 'Cancelled')
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog', { name: 'Dispatch a task' })
  await dialog.getByLabel('Title').fill('Sort the parcels')
  await dialog.getByLabel(/What is to be done/).fill('by weight')
  await dialog.getByRole('button', { name: 'Dispatch', exact: true }).click()
  // From now on the hub brings tasks to workers.
  await page
    .getByRole('row', { name: /Sort the parcels/ })
    .getByText('Done')
    .waitFor()

  // A run says what it was for, and how long it waited for somebody: at a question, at a collision, at a note.
  await visitor.go('#/timeline')
  await page
    .getByRole('row', { name: /amber-otter/ })
    .filter({ hasText: 'Rotate refresh tokens' })
    .waitFor()
  for (const agent of ['amber-otter', 'teal-badger', 'slate-heron']) {
    const row = page.getByRole('row', { name: new RegExp(agent) })
    expect([agent, await row.getByRole('cell').nth(5).innerText()]).toEqual([
      agent,
      expect.stringMatching(/ (s|min) for (you|an agent)/),
    ])
  }

  await visitor.go('#/decisions?agent=rust-marten')
  await page.getByRole('button', { name: /^Refused/ }).click()
  await sees(page, '.call-detail', 'say what is left and stop')
  await page.getByRole('button', { name: /Replay/ }).click()
  const replay = page.getByRole('dialog', { name: /Replay/ })
  await replay.getByLabel(/Policy/).fill(LENIENT)
  await replay.getByRole('button', { name: 'Decide again' }).click()
  await sees(page, '[role=dialog] [role=status]', '1 passed now')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Show on timeline' }).click()
  await page.getByRole('button', { name: 'Play its terminal' }).click()
  await sees(page, '.player', 'apply_patch')
}

/** A run that is over: its terminal plays, its timeline and decisions are there, and what it had changed; by keys alone. */
async function yesterday(visitor: Visitor): Promise<void> {
  const { page } = visitor
  await visitor.go('#/session/onyx-raven')
  await sees(page, '.recorded', 'recorded; its session ended')
  await sees(page, '.recorded .player', '118 tests passed')
  await page.getByRole('link', { name: 'Timeline' }).last().focus()
  await page.keyboard.press('Enter')
  await sees(page, '.run-head', 'Run of onyx-raven')
  await sees(page, '.banner', 'You look at the past')
  await page.getByRole('button', { name: /src\/webhooks\/retry.ts/ }).focus()
  await page.keyboard.press('Enter')
  await sees(page, '.run-changes .diff', '// retry')
  await page.getByRole('button', { name: 'Play its terminal' }).focus()
  await page.keyboard.press('Enter')
  await sees(page, '.player', '118 tests passed')
}

const LENIENT = JSON.stringify({
  policy_id: 'lenient',
  version: '1',
  mode: 'control',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [],
})

async function takesTheKeyboard(fleet: SampleFleet, visitor: Visitor): Promise<void> {
  const { page } = visitor
  await visitor.go('#/session/cobalt-harbor')
  await sees(page, '.terminal', 'Read only')
  await page.locator('.terminal-body[data-live=true]').waitFor()
  await page.keyboard.press('i')
  await sees(page, '.terminal', 'You type')
  await page.keyboard.press('y')
  const said = async (): Promise<boolean> =>
    (await fleet.run('hm', ['logs', 'cobalt-harbor'])).stdout.includes('you said: y')
  await expect.poll(said, { timeout: SEEN_MS, interval: 300 }).toBe(true)
  await page.getByRole('button', { name: 'Give it back' }).click()
  await sees(page, '.terminal', 'Read only')
}
