// A browser gives the hub's cookie to every server on this machine that it visits, also to another user's: with it, and an
// origin that anybody can write, requests were the owner's. The page shows a pass beside it, from storage of its own port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { browser, visit } from '../page/look.ts'
import { ask } from '../support/hub.ts'
import { parcelworks, startHub } from '../support/sample-fleet.ts'

test('what a server on another port is sent by the owner’s browser opens nothing', async () => {
  const fleet = parcelworks()
  const hub = await startHub(fleet, fleet.more)
  const { page } = await visit(await browser(), hub)
  const host = new URL(page.url()).host

  let stolen = ''
  const elsewhere = createServer((request, response) => {
    stolen = request.headers.cookie ?? ''
    response.end('hello')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void elsewhere.close())
  const tab = await page.context().newPage()
  await tab.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
  expect(stolen).toMatch(/^heimdall_\d+=/)
  expect(await tab.evaluate('Object.keys(localStorage)')).toEqual([])

  const port = Number(host.split(':')[1])
  const headers = { Host: host, Origin: `http://${host}`, Cookie: stolen, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ text: 'echo typed by another' })
  for (const path of ['/api/fleet', '/api/events', '/api/screens'])
    expect([path, (await ask(port, path, { headers })).status]).toEqual([path, 401])
  expect((await ask(port, '/api/agents/any/input', { method: 'POST', headers, body })).status).toBe(401)

  // The owner’s page goes on, in this tab, loaded anew and in another one.
  await page.reload()
  await page.waitForSelector('.foot .live-dot:not(.off)')
  await tab.goto(`http://${host}/#/fleet`)
  await tab.waitForSelector('.foot .live-dot:not(.off)')
})
