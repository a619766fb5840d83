// Text of agents is text: two hundred strings that would be script elsewhere, on every part of the page that shows such text. And a hub with nobody at work.
import { expect, test } from 'vitest'
import { asks } from '../support/sample-agents.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'
import { until } from '../support/wait.ts'
import { browser, visit } from './look.ts'

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

test('two hundred hostile strings are shown as they are, and none runs', { timeout: 600_000 }, async () => {
  expect(HOSTILE).toHaveLength(200)
  const fleet = parcelworks()
  const hub = await startHub(fleet, fleet.more)
  const chromium = await browser()

  // Nobody is there yet: the first page, and who comes is there by itself.
  const visitor = await visit(chromium, hub)
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
  await page.locator('.inbox-row', { hasText: question }).waitFor()
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
    await fleet.run('heimdall', ['agent', 'register', '--name', 'march-hare', '--role', 'guest'], { env: fleet.more })
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
  await page.locator('.talk-row', { hasText: question }).first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('script')
  await page.locator('.search-row').first().waitFor()
  await visitor.picture('hostile')
  await page.keyboard.press('Escape')

  // A program that reaches for the clipboard while somebody types gets no key for it, and the session every one.
  const offer =
    "IFS= read -r -n1 first; printf '\\033]52;c;Y3VybCBldmls\\007'; IFS= read -r rest; echo heard $first$rest"
  await fleet.start({ id: 'sly-fox', screen: 'ready', does: [offer] })
  await page.evaluate("navigator.clipboard.writeText = () => { window.__ran = 'copied' }")
  await visitor.go('#/session/sly-fox')
  await page.getByRole('button', { name: 'Take the keyboard' }).click()
  await page.getByText('You type', { exact: true }).waitFor()
  await page.keyboard.press('l')
  await page.locator('.terminal-offer').waitFor()
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
