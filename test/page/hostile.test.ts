// Text of agents stays text and stays in its place: two hundred strings that would be script, names in every script, at every window size. And a hub without agents.
import { expect, test } from 'vitest'
import { asks } from '../support/sample-agents.ts'
import { perFile } from '../support/cleanup.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'
import { visit } from './look.ts'

const ACTS = ['window.__ran=1', 'fetch(`//x.example`)', 'document.body.innerHTML=1', 'top.__ran=1', 'alert`1`'] as const
const FORMS: readonly ((act: string) => string)[] = [
  (act) => `<script>${act}</script>`,
  (act) => `<img src=x onerror=${act}>`,
  (act) => `<svg/onload=${act}>`,
  (act) => `"><script>${act}</script>`,
  (act) => `'><img src=x onerror=${act}>`,
  (act) => `</textarea><script>${act}</script>`,
  (act) => `</title><script>${act}</script>`,
  (act) => `</style><svg onload=${act}>`,
  (act) => `<iframe srcdoc="<script>${act}</script>">`,
  (act) => `<a href="javascript:${act}">x</a>`,
  (act) => `javascript:${act}`,
  (act) => `<body onload=${act}>`,
  (act) => `<details open ontoggle=${act}>`,
  (act) => `<input autofocus onfocus=${act}>`,
  (act) => `<video><source onerror=${act}></video>`,
  (act) => `<math><mi xlink:href="javascript:${act}">`,
  (act) => `{{constructor.constructor('${act}')()}}`,
  (act) => `\${${act}}`,
  (act) => `<object data="javascript:${act}">`,
  (act) => `<embed src="javascript:${act}">`,
  (act) => `<form action="javascript:${act}"><button>x`,
  (act) => `<meta http-equiv=refresh content="0;javascript:${act}">`,
  (act) => `<base href="javascript:${act}//">`,
  (act) => `<link rel=stylesheet href="javascript:${act}">`,
  (act) => `<style>@import 'javascript:${act}'</style>`,
  (act) => `<div style="background:url(javascript:${act})">`,
  (act) => `<scr<script>ipt>${act}</scr</script>ipt>`,
  (act) => `%3Cscript%3E${act}%3C/script%3E`,
  (act) => `&lt;script&gt;${act}&lt;/script&gt;`,
  (act) => `\\u003cscript\\u003e${act}\\u003c/script\\u003e`,
  (act) => `<!--><script>${act}</script-->`,
  (act) => `<![CDATA[<script>${act}</script>]]>`,
  (act) => `<xss style="animation-name:x" onanimationstart=${act}>`,
  (act) => `<marquee onstart=${act}>`,
  (act) => `<template><script>${act}</script></template>`,
  (act) => `<noscript><p title="</noscript><img src=x onerror=${act}>">`,
  (act) => `‮<script>${act}</script>`,
  (act) => `<a href="data:text/html,<script>${act}</script>">x</a>`,
  (act) => `[x](javascript:${act})`,
  (act) => `<img src="x" onerror="${act}" / >`,
]
const HOSTILE = FORMS.flatMap((form) => ACTS.map(form))

const TITLES = {
  'right-owl': 'إصلاح الفاتورة תיקון החשבונית',
  'wide-owl': 'แก้ไขใบแจ้งหนี้ 👩‍👩‍👧‍👦 请修复发票 Исправить',
  'sly-owl': 'safe\u202egnp.exe\u200b\u200c\u2066hidden',
  'long-owl': 'x'.repeat(10_000),
} as const

const PLACES = ['#/needs-you', '#/fleet', '#/claims', '#/decisions', '#/timeline', '#/tasks', '#/tokens'] as const
/** Phones, 1280 by 800 at 200 %, tablets, laptops and a wall; the layout changes at 640 and 1180. */
const SIZES = [
  [360, 740],
  [390, 844],
  [640, 400],
  [768, 1024],
  [820, 1180],
  [1024, 768],
  [1180, 820],
  [1440, 900],
  [2560, 1440],
] as const

/** What reaches beyond the window to the right, by class, unless it may be scrolled there. */
const WIDER = `[...document.querySelectorAll('#main *, .shell_top *, .shell_tabs *')].filter((e) => {
  const box = e.getBoundingClientRect()
  if (box.width === 0 || box.height === 0 || box.right <= innerWidth + 1) return false
  for (let up = e; up !== null && up.id !== 'root'; up = up.parentElement)
    if (/auto|scroll|hidden/.test(getComputedStyle(up).overflowX) && up.getBoundingClientRect().right <= innerWidth + 1 && up.id !== 'main') return false
  return true
}).map((e) => e.className || e.tagName).slice(0, 5)`

/** Text whose middle another element covers, as far as it is scrolled into sight. */
const COVERED = `(() => {
  const found = []
  const texts = document.createTreeWalker(document.querySelector('#main'), NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === '') continue
    const range = document.createRange()
    range.selectNodeContents(text)
    const box = range.getClientRects()[0]
    if (box === undefined || box.width < 2 || box.height < 2) continue
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
    let isInSight = x >= 0 && x < innerWidth && y >= 0 && y < innerHeight
    for (let up = text.parentElement; up !== null && isInSight; up = up.parentElement) {
      const style = getComputedStyle(up)
      if (style.visibility === 'hidden' || style.opacity === '0') isInSight = false
      if (!/auto|scroll|hidden|clip/.test(style.overflow)) continue
      const clip = up.getBoundingClientRect()
      isInSight &&= x >= clip.left && x <= clip.right && y >= clip.top && y <= clip.bottom
    }
    if (!isInSight) continue
    const top = document.elementFromPoint(x, y)
    if (top !== null && !top.contains(text) && !text.parentElement.contains(top) && top.closest('.shell_foot, .shell_tabs, .shell_top') === null &&
      // The whole row is the area of its link, which shows what is below it.
      getComputedStyle(top, '::after').position !== 'absolute')
      found.push(text.data.slice(0, 40) + ' under ' + (top.className || top.tagName))
  }
  return found.slice(0, 5)
})()`

const shared = perFile(async () => {
  const fleet = parcelworks()
  return { fleet, visitor: await visit(await startHub(fleet, fleet.more)) }
})

test('two hundred hostile strings are shown as they are, and none runs', async () => {
  expect(HOSTILE).toHaveLength(200)
  const { fleet, visitor } = shared()
  // The first page without agents; the first agent appears on it without a reload.
  const { page } = visitor
  await page.getByRole('heading', { name: 'Nobody is at work yet' }).waitFor()
  await visitor.picture('09-first-run')

  const [title = '', question = ''] = HOSTILE
  const screen = HOSTILE.join('\n')
  await fleet.start({
    id: 'mad-hatter',
    task: ['X-1', title.replaceAll("'", '’')],
    screen,
    does: [asks('question', question)],
  })
  await page.locator('.needs-you_inbox-row', { hasText: question }).waitFor()
  const body = screen.slice(0, 16_000)
  const note = [
    'note',
    'send',
    '--from',
    'mad-hatter',
    '--to',
    'mad-hatter',
    '--category',
    'INFO',
    '--subject',
    question,
    '--body',
    body,
  ]
  const sent = await fleet.run('heimdall', note, { env: fleet.more })
  // A session is itself alone: who is nobody sends in its own name.
  if (sent.code !== 0) {
    await fleet.run('heimdall', ['agent', 'add', 'march-hare', '--role', 'guest'], { env: fleet.more })
    const other = note.map((word, index) => (index === 3 ? 'march-hare' : word))
    expect((await fleet.run('heimdall', other, { env: fleet.more })).stderr).toBe('')
  }

  let opened = 0
  page.on('dialog', () => (opened += 1))
  page.on('request', (request) => (opened += request.url().includes('x.example') ? 1 : 0))
  for (const place of [
    '#/needs-you',
    '#/fleet',
    '#/session/mad-hatter?tab=calls',
    '#/tasks',
    '#/timeline',
    '#/claims',
  ]) {
    await visitor.go(place)
    await page.locator('#main').waitFor()
    await until('the screen to be drawn', async () => (await page.locator('#main').innerText()).length > 20)
  }
  await visitor.go('#/session/mad-hatter')
  await page.locator('.session_talk-row', { hasText: question }).first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('script')
  await page.locator('.search_search-row').first().waitFor()
  await visitor.picture('hostile')
  await page.keyboard.press('Escape')

  // A program that reaches for the clipboard while somebody types gets no key for it, and the session every one.
  const offer =
    "IFS= read -r -n1 first; printf '\\033]52;c;Y3VybCBldmls\\007'; IFS= read -r rest; echo heard $first$rest"
  await fleet.start({ id: 'sly-fox', screen: 'ready', does: [offer] })
  await page.evaluate("navigator.clipboard.writeText = () => { window.__ran = 'copied' }")
  await visitor.go('#/session/sly-fox')
  // The session before has such a button too.
  await page.locator('.session-name', { hasText: 'sly-fox' }).waitFor()
  await page.getByRole('button', { name: 'Take the keyboard' }).click()
  await page.getByText('You type', { exact: true }).waitFor()
  await page.keyboard.press('l')
  await page.locator('.session_terminal-offer').waitFor()
  await page.keyboard.type('s -la src')
  await page.keyboard.press('Enter')
  await until('every key to arrive', async () =>
    (await fleet.run('hm', ['peek', 'sly-fox'], { env: fleet.more })).stdout.includes('heard ls -la src'),
  )
  expect(opened).toBe(0)
  expect(await page.evaluate('window.__ran')).toBeUndefined()
  // Only what the page was served with.
  expect(await page.evaluate("document.querySelectorAll('iframe,object,embed,base,form[action],img').length")).toBe(0)
  expect(
    await page.evaluate("[...document.scripts].every((s) => s.src.startsWith(location.origin + '/assets/'))"),
  ).toBe(true)
  expect(visitor.complaints).toEqual([])
})

test('names in every script, with control characters and without end fit every window', async () => {
  const { fleet, visitor } = shared()
  const { page } = visitor
  await visitor.go('#/needs-you')
  await Promise.all(
    Object.entries(TITLES).map(([id, title]) =>
      fleet.start({
        id,
        task: [`T-${id}`, title],
        claims: [`src/${id}.ts`],
        screen: `${title.slice(0, 200)}\n1. ${title.slice(0, 30)}\n2. no`,
        // A terminal limits the bytes of a status; a note may be longer.
        does: [asks('question', title.slice(0, 500))],
      }),
    ),
  )
  await page.locator('h1', { hasText: '5 wait for you' }).waitFor()
  for (const title of [TITLES['right-owl'], TITLES['wide-owl'].slice(0, 15), '请修复发票 Исправить'])
    await page.locator('.needs-you_inbox-row .needs-you_title', { hasText: title }).first().waitFor()

  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height })
    for (const place of [...PLACES, '#/session/wide-owl', '#/session/long-owl']) {
      await visitor.go(place)
      await until('the screen to be drawn', async () => (await page.locator('#main').innerText()).length > 20)
      expect(await page.locator('#main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
      const seen = { width, place, wider: await page.evaluate(WIDER), covered: await page.evaluate(COVERED) }
      expect(seen).toEqual({ width, place, wider: [], covered: [] })
    }
    await visitor.picture(`session-${width}`)
  }
  expect(visitor.complaints).toEqual([])
})
