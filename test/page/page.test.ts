// The dashboard in a real browser, on a real hub with a fleet like that of the design's pictures: each screen, each action, live, by keyboard, on a phone, in both themes.
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { perFile } from '../support/cleanup.ts'
import { parcelworks, startHub, startSampleFleet } from '../support/sample-fleet.ts'
import { asks } from '../support/sample-agents.ts'
import { QUEUED_TASK, startSampleWorkers } from '../support/sample-workers.ts'
import { scaled } from '../support/scale.ts'
import { until } from '../support/wait.ts'
import { SEEN_MS, visit, type Visitor } from './look.ts'

const TABS_PX = 66
const PHONE = { width: 390, height: 844 }

/** The tests of this file run in order on one fleet: those that answer and change come last. */
const shared = perFile(async () => {
  const fleet = parcelworks()
  const [hub] = await Promise.all([
    startHub(fleet, fleet.more),
    startSampleFleet(fleet, scaled(10, 24)),
    startSampleWorkers(fleet),
  ])
  const desk = await visit(hub)
  const phone = await visit(hub, { hasTouch: true, viewport: PHONE })
  return { fleet, desk, phone, page: desk.page }
}, 600_000)

afterEach(() => {
  const { desk, phone } = shared()
  expect([...desk.complaints, ...phone.complaints]).toEqual([])
})

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
    // The page has no frames, so that it needs no blank page beside it to join results; and what passed is not reported.
    const builder = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
    const { violations } = await (
      theme === 'dark'
        ? builder.withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        : builder.withRules(['color-contrast'])
    ).analyze()
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    expect({ where, theme, found }).toEqual({ where, theme, found: [] })
  }
}

/** Nothing scrolls but what is inside the frame: the tabs stay where the thumb is. */
const overhang = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollHeight - document.documentElement.clientHeight')

test('Needs you lists every kind of wait', async () => {
  const { desk, page } = shared()
  await sees(page, 'h1', '6 wait for you')
  for (const word of ['Permission', 'Question', 'Needs input', 'Collision', 'Budget', 'Tool changed'])
    await sees(page, '.needs-you_inbox-row', word)
  await sees(page, '.needs-you_screen-now', /[a-z]/)
  // Amber is a wait, rose is harm.
  const colorOf = (state: string): Promise<string> =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('.state.${state}')).color`)
  expect([await colorOf('needs-you'), await colorOf('collision')]).toEqual(['rgb(244, 183, 64)', 'rgb(255, 143, 168)'])
  await desk.picture('01-needs-you')
  await axe(desk, 'needs you')
})

test('a wait appears and goes without a reload', async () => {
  const { fleet, page } = shared()
  await fleet.start({ id: 'late-comer', screen: 'Which currency?', does: [asks('question', 'Which currency?')] })
  await sees(page, 'h1', '7 wait for you')
  await sees(page, '.needs-you_inbox-row', 'Which currency?')
  expect(await page.title()).toBe('(7) Heimdall')
  await fleet.run('hm', ['send', 'late-comer', 'EUR', '--enter'], { env: fleet.more })
  await sees(page, 'h1', '6 wait for you')
})

test('Fleet, opened by keys, shows who collides and who repeats a call', async () => {
  const { desk, page } = shared()
  // By keys alone, from here to there.
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await sees(page, '.fleet_card.collision', 'teal-badger')
  await sees(page, '.fleet_card.looping', /Same call 9 times/)
  await sees(page, '.fleet_thumb', 'read_file src/queue/drain.ts')
  await desk.picture('02-fleet')
  await axe(desk, 'fleet')
  await page.getByRole('button', { name: 'Table' }).click()
  await sees(page, '.table', 'cobalt-harbor')
})

test('Claims shows who wants a path that another holds', async () => {
  const { desk, page } = shared()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await sees(page, '.claims_path-detail', 'Two agents want one path')
  await sees(page, '.claims_tree', 'invoice.ts')
  await page.locator('.claims_map canvas').waitFor()
  await desk.picture('04-claims')
  await axe(desk, 'claims')
})

test('Decisions leads from a refused call to its place on the timeline', async () => {
  const { desk, page } = shared()
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await sees(page, 'h1', 'Decisions')
  // Of one of those that were refused something.
  await desk.go('#/decisions?agent=rust-marten')
  await page.getByRole('button', { name: /^Refused/ }).click()
  await sees(page, '.decisions_call-detail', 'say what is left and stop')
  await desk.picture('05-decisions')
  await axe(desk, 'decisions')
  await page.getByRole('link', { name: 'Show on timeline' }).click()
  await sees(page, '.timeline_run-head', 'Run of rust-marten')
  await page.keyboard.press('+')
  await page.waitForFunction("location.hash.includes('from=')")
  await page.keyboard.press('0')
  await page.waitForFunction("!location.hash.includes('from=')")
  await byTheStrip(page)
  await desk.picture('06-timeline')
  await axe(desk, 'timeline')
})

test('a run shows its cost, from the transcript of its host, and how long it waited', async () => {
  const { page } = shared()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page
    .getByRole('row', { name: /amber-otter/ })
    .getByRole('link')
    .first()
    .click()
  await sees(page, '.timeline_run-head', 'Run of amber-otter')
  // The recorded session, five times: five times what its host counted, without its subagent.
  await sees(page, '.timeline_run-sums', 'Tokens50,200')
  await sees(page, '.timeline_run-sums', /Cost\$0\.0\d/)
  await sees(page, '.timeline_run-sums', /Waited for you.*1 wait/)
  await sees(page, '.timeline_timeline-tokens', 'transcripts of its host')
})

test('changes are shown since a time or a commit, and the basis of the list is named', async () => {
  const { desk, page } = shared()
  await desk.go('#/session/amber-otter')
  const files = page.locator('.changes-files')
  await files.getByText('src/auth/family.ts').waitFor()
  await files.getByText('src/auth/refresh.ts').waitFor()
  // What was refused to it stands in its conversation, with what it did then.
  await sees(
    page,
    '.session_talk-row',
    /Refused with a hint.*git · push ao\/refresh-rotation.*rule no-force.*other arguments/,
  )
  await sees(page, '.session_changes-basis', 'as was noted then')
  await sees(
    page,
    '.session_changes-shared',
    /Shared working tree: \d+ agents work here; git does not tell whose a change is/,
  )
  await page.getByLabel('since').focus()
  await page.keyboard.press('ArrowDown')
  await files.getByText('src/auth/family.ts').waitFor({ state: 'detached' })
  await page.waitForFunction("location.hash.includes('since=HEAD')")
  await page.getByLabel('since').selectOption('commit')
  // Its field is the next that Tab leads to.
  await page.keyboard.press('Tab')
  await page.keyboard.type('nowhere')
  await page.keyboard.press('Enter')
  await sees(page, '.session_lower', 'neither a time nor a commit')
  await desk.go('#/session/amber-otter?since=2001-01-01T00:00:00Z')
  await sees(page, '.session_changes-basis', 'no reflog reaches back so far')
})

test('Tasks explains which worker gets the next task; Tokens counts ended runs too', async () => {
  const { desk, page } = shared()
  // Which worker gets the next task, and why not another.
  const routing = [
    `Why hazel-mole gets ${QUEUED_TASK.id}`,
    '2 of 3 workers can do it: cheapest tier first',
    'no orchestrator is running: heimdall worker serve',
    'Gets it: cheaper tier',
    'Could: dearer tier',
    'Cannot: tier too low',
  ]
  for (const [key, name, texts] of [
    ['k', '07-tasks', [/1 queued, \d+ running, 2 left open/, ...routing]],
    // An ended run has cost something, too.
    ['o', '14-tokens', [/\$0\.\d\d/, /onyx-raven\s*40,160/]],
  ] as const) {
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    for (const text of texts) await sees(page, '#main', text)
    await desk.picture(name)
    await axe(desk, name)
  }
})

test('search finds agents and paths, and ? lists the keys', async () => {
  const { desk, page } = shared()
  await page.keyboard.press('/')
  await page.keyboard.type('invoice')
  await sees(page, '.search_search-row', 'teal-badger')
  await sees(page, '.search_search-row', 'src/billing/invoice.ts')
  await desk.picture('08-search')
  await axe(desk, 'search')
  await page.keyboard.press('Enter')
  await page.waitForFunction("location.hash.includes('badger')")
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
})

test('a call on a phone fits between the top and the tabs', async () => {
  const { phone } = shared()
  const { page } = phone
  await phone.go('#/decisions')
  await page.locator('.long-row a').nth(2).tap()
  const detail = page.locator('.decisions_call-detail')
  await detail.getByText('It asked').waitFor()
  await detail.getByText('What it did next').scrollIntoViewIfNeeded()
  const at = await detail.getByText('What it did next').boundingBox()
  expect(at?.y).toBeLessThan(PHONE.height - TABS_PX)
  expect(await overhang(page)).toBe(0)
  await page.getByRole('link', { name: 'All calls' }).tap()
  await page.locator('.long-row a').nth(2).waitFor()
  await detail.waitFor({ state: 'hidden' })
  expect(await overhang(page)).toBe(0)
})

test('a terminal takes keys only while it has the keyboard', async () => {
  const { desk, page } = shared()
  const screen = page.locator('.session_terminal .xterm-screen')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await desk.go('#/fleet')
  await desk.go('#/session/plum-weasel')
  await page.locator('.session_terminal-body[data-live=true]').waitFor()
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
})

test('a draft for one agent does not move into the field of the next', async () => {
  const { desk, page } = shared()
  await desk.go('#/session/plum-weasel')
  await page.getByPlaceholder(/plum-weasel/).fill('rm -r build')
  await page.evaluate("location.hash = '#/session/cobalt-harbor'")
  const next = page.getByPlaceholder(/cobalt-harbor/)
  await next.waitFor()
  expect(await next.inputValue()).toBe('')
})

test('the state of an agent stands beside the state of its task', async () => {
  const { desk, phone, page } = shared()
  await desk.go('#/tasks')
  for (const [task, state] of [
    ['BILL-80', 'Running, collision'],
    ['CARR-17', 'Running, needs you'],
    ['HTTP-12', 'Left open, its agent is done'],
    ['RATE-55', 'Left open, its agent failed'],
  ] as const)
    await page
      .getByRole('row', { name: new RegExp(task) })
      .getByText(state)
      .waitFor()
  expect(await page.locator('.tasks_tasks .page-head').innerText()).not.toContain('0 done')
  await phone.go('#/tasks')
  const answer = phone.page.locator('.tasks_routing').getByText('Gets it: cheaper tier')
  await answer.waitFor()
  const at = await answer.boundingBox()
  expect((at?.x ?? PHONE.width) + (at?.width ?? 0)).toBeLessThan(PHONE.width)
})

test('the events of a run are worded once, and repeated calls are one entry', async () => {
  const { desk, page } = shared()
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
    await page.locator('.timeline_happened-list li').filter({ hasText: text }).waitFor()
  }
})

test('in a shared working tree an agent’s own changes come first', async () => {
  const { desk, page } = shared()
  // It holds src/auth; what others changed stands in the same list, after that.
  await desk.go('#/session/amber-otter')
  await page.getByText(/Shared working tree: \d+ agents work here/).waitFor()
  const paths = await page.locator('.changes-files li .mono').allInnerTexts()
  expect(paths.slice(0, 2).every((path) => path.startsWith('src/auth/'))).toBe(true)
  expect(paths).toContain('src/webhooks/retry.ts')
})

test('Past says that it is chosen, Now leads back, and the tabs of the phone work', async () => {
  const { desk, phone, page } = shared()
  await desk.go('#/session/rust-marten')
  await page.getByRole('button', { name: 'Past…' }).click()
  await page.getByRole('button', { name: 'Past…', pressed: true }).waitFor()
  await page.getByRole('button', { name: 'Now', exact: true }).click()
  await page.waitForFunction("location.hash === '#/session/rust-marten'")
  await page.getByRole('button', { name: /Density/ }).click()
  const foot =
    "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.shell_rail-foot'))"
  expect(await page.evaluate(foot)).toBe(0)
  const tabs = phone.page.getByRole('navigation', { name: 'Screens, at the thumb' })
  for (const screen of ['Timeline', 'Tasks', 'Tokens']) {
    await tabs.getByRole('link', { name: screen }).tap()
    await phone.page.waitForFunction(`location.hash === '#/${screen.toLowerCase()}'`)
  }
})

test('Escape leaves a field and not the screen; a changed tool can be left refused', async () => {
  const { desk, page } = shared()
  await desk.go('#/needs-you')
  // One escape leaves the field, and not the screen.
  await page.getByLabel('Project').focus()
  await page.keyboard.press('Escape')
  expect(await page.evaluate('[location.hash, document.activeElement.tagName]')).toEqual(['#/needs-you', 'BODY'])
  await page.locator('.needs-you_inbox-row', { hasText: 'Tool changed' }).click()
  await page.getByRole('button', { name: /Leave it refused/ }).click()
  await page
    .locator('.needs-you_inbox-row', { hasText: 'Tool changed' })
    .getByText(/snoozed/)
    .waitFor()
})

test('each kind of answer is given once, and its wait goes by itself', async () => {
  const { fleet, desk, page } = shared()
  const open = async (agent: string): Promise<void> => {
    await desk.go('#/needs-you')
    await page.locator('.needs-you_inbox-row', { hasText: agent }).click()
    await page.locator('.needs-you_inbox-row[aria-current]', { hasText: agent }).waitFor()
  }
  const leaves = (agent: string): Promise<void> =>
    page.locator('.needs-you_inbox-row', { hasText: agent }).waitFor({ state: 'detached', timeout: SEEN_MS })

  await open('amber-otter')
  // In the words of its host, as they stand on its screen.
  await page
    .locator('.needs-you_wait-pane')
    .getByRole('button', { name: 'Keep it, answer with a Sunset header' })
    .waitFor()
  expect(await page.locator('.needs-you_wait-pane .answer-buttons .button').count()).toBe(3)
  await sees(page, '.needs-you_wait-foot', 'types that choice into the session; no record names who typed')
  await page.keyboard.press('1')
  await leaves('amber-otter')
  // Seed 002 §6.2, §6.3, §9: the recipient sees what is asked and by whom, and its page updates when a human accepts.
  await desk.go('#/session/ivory-lynx')
  const blocked = page.locator('.session_talk-row', { hasText: 'DHL sandbox key expired' }).first()
  await blocked.getByText(/^Requested action: .*, urgency (low|medium|high)$/).waitFor()
  await blocked.getByText('from slate-heron').waitFor()
  await blocked.getByText('not yet').waitFor()
  await blocked.getByRole('button', { name: '☐ Accepted' }).click()
  await blocked.getByText(/Accepted .* by a human/).waitFor()
  expect(await blocked.getByRole('button').count()).toBe(0)
  await desk.go('#/needs-you')
  await leaves('slate-heron')
  await desk.go('#/session/slate-heron')
  await sees(page, '.session_note-state', /Accepted .* by a human/)
  await desk.picture('03-session')
  await axe(desk, 'session')

  await open('Tool changed')
  await page.getByRole('button', { name: /Approve/ }).click()
  await page.getByRole('group', { name: 'Sure?' }).getByRole('button').first().click()
  await leaves('Tool changed')

  await open('teal-badger')
  await sees(page, '.needs-you_wait-foot', 'Answers are recorded as human, with the time')
  await page.keyboard.press('1')
  await sees(page, '.answer-outcome', 'snoozed by')

  await open('rust-marten')
  await page.keyboard.press('z')
  await sees(page, '.needs-you_inbox-row', 'snoozed')
  const { stdout } = await fleet.run('heimdall', ['status', '--json'], { env: fleet.more })
  expect(stdout).toContain('"snoozed_until":"2')
})

test('a terminal is typed into after the keyboard is taken', async () => {
  const { fleet, desk, page } = shared()
  await desk.go('#/session/cobalt-harbor')
  await sees(page, '.session_terminal', 'Read only')
  await page.locator('.session_terminal-body[data-live=true]').waitFor()
  await page.keyboard.press('i')
  await sees(page, '.session_terminal', 'You type')
  await page.keyboard.press('y')
  const said = async (): Promise<boolean> =>
    (await fleet.run('hm', ['logs', 'cobalt-harbor'])).stdout.includes('you said: y')
  await expect.poll(said, { timeout: SEEN_MS, interval: 300 }).toBe(true)
  await page.getByRole('button', { name: 'Give it back' }).click()
  await sees(page, '.session_terminal', 'Read only')
})

test('a task is cancelled, and another is sent and done', async () => {
  const { desk, page } = shared()
  await desk.go(`#/tasks/${QUEUED_TASK.id}`)
  await page.locator('.tasks_routing').getByRole('button', { name: 'Cancel' }).click()
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
})

test('Timeline says what a run was for and for whom it waited', async () => {
  const { desk, page } = shared()
  // A run says what it was for, and how long it waited for somebody: at a question, at a collision, at a note.
  await desk.go('#/timeline')
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
})

test('a run is decided again under another policy, and its terminal plays beside its events', async () => {
  const { desk, page } = shared()
  await desk.go('#/decisions?agent=rust-marten')
  await page.getByRole('button', { name: /^Refused/ }).click()
  await sees(page, '.decisions_call-detail', 'say what is left and stop')
  await page.getByRole('button', { name: /Replay/ }).click()
  const replay = page.getByRole('dialog', { name: /Replay/ })
  await replay.getByLabel(/Policy/).fill(LENIENT)
  await replay.getByRole('button', { name: 'Decide again' }).click()
  await sees(page, '[role=dialog] [role=status]', '1 passed now')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Show on timeline' }).click()
  await page.getByRole('button', { name: 'Play its terminal' }).click()
  await sees(page, '.player', 'apply_patch')
})

test('an ended run keeps its terminal, timeline and changes, by keys alone', async () => {
  const { desk, page } = shared()
  await desk.go('#/session/onyx-raven')
  await sees(page, '.session_recorded', 'recorded; its session ended')
  await sees(page, '.session_recorded .player', '118 tests passed')
  await page.getByRole('link', { name: 'Timeline' }).last().focus()
  await page.keyboard.press('Enter')
  await sees(page, '.timeline_run-head', 'Run of onyx-raven')
  await sees(page, '.banner', 'You look at the past')
  await page.getByRole('button', { name: /src\/webhooks\/retry.ts/ }).focus()
  await page.keyboard.press('Enter')
  await sees(page, '.timeline_run-changes .diff', '// retry')
  await page.getByRole('button', { name: 'Play its terminal' }).focus()
  await page.keyboard.press('Enter')
  await sees(page, '.player', '118 tests passed')
  await axe(desk, 'a run that is over')
})

/** The strip above the lanes shows the whole run: its frame is drawn in by an end, moved by its middle, and pressed twice for all of it. */
async function byTheStrip(page: Page): Promise<void> {
  const strip = await page.locator('.timeline_overview').boundingBox()
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
      const [all, part] = ['.timeline_overview', '.timeline_overview-part'].map((it) => document.querySelector(it).getBoundingClientRect())
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

const LENIENT = JSON.stringify({
  policy_id: 'lenient',
  version: '1',
  mode: 'control',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [],
})
