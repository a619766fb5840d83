// The page while another program listens on the hub's port: it sends nothing that can be used, loads no code, says what happened, and comes back with the hub.
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '../support/hub.ts'
import { startHub } from '../support/sample-fleet.ts'
import { spine } from '../spine/spine.ts'
import { until } from '../support/wait.ts'
import { profile } from './look.ts'

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const LIVE = '.shell_foot .shell_live-dot:not(.shell_off)'

test('a tab proves the hub before it sends anything; what another program on the port receives opens nothing', async () => {
  const project = spine()
  let hub = await startHub(project)
  const port = Number(new URL(hub.url).port)
  const context = await profile()
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  // A link that was typed with localhost signs in at 127.0.0.1: another user can listen on [::1] while the hub runs.
  await page.goto((await hub.link()).replace('127.0.0.1', 'localhost'))
  await page.waitForSelector(LIVE)
  expect(new URL(page.url()).host).toBe(`127.0.0.1:${port}`)
  // One sign-in for all tabs, also loaded anew.
  const tab = await context.newPage()
  await tab.goto(`${hub.url}/#/fleet`)
  await tab.waitForSelector(LIVE)
  await tab.reload()
  await tab.waitForSelector(LIVE)
  await tab.close()
  // No script can read the key, and no other port is sent anything.
  expect(await context.cookies()).toEqual([])
  expect(await page.evaluate('Object.keys(localStorage).filter((name) => /pass|key/.test(name))')).toEqual([])
  const link = await hub.link()

  await hub.stop()
  const received: Received[] = []
  const answers = ['{}', '{"error":{"code":"HUB_TOKEN_REQUIRED","message":"x","hint":null,"still_works":null}}', '<p>']
  const squatter = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      received.push({ method, url, headers, body })
      const answer = answers[received.length % answers.length] ?? ''
      const type = answer.startsWith('{') ? 'application/json' : 'text/html'
      response.writeHead(answer.includes('error') ? 401 : 200, { 'Content-Type': type }).end(answer)
    })
  })
  squatter.on('upgrade', ({ method = '', url = '', headers }: IncomingMessage, socket) => {
    received.push({ method, url, headers, body: '' })
    socket.destroy()
  })
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void squatter.close())

  await page.getByText(`Another program answers at 127.0.0.1:${port}`).waitFor()
  // A screen whose code was not loaded before, and a link of the hub that has stopped.
  await page.evaluate("location.hash = '#/claims'")
  await page.locator('#main', { hasText: 'Loading this screen' }).waitFor()
  await page.evaluate(`location.hash = ${JSON.stringify(new URL(link).hash)}`)
  await until('the link to be tried', () => received.some(({ url }) => url.startsWith('/api/login')))
  for (const [n] of answers.entries()) {
    const before = received.length
    await page.getByRole('button', { name: 'Try now' }).click()
    await until(`answer ${n} to be given`, () => received.length > before)
  }
  const key = new URL(link).hash.slice('#key='.length)
  for (const { method, url, headers, body } of received) {
    const path = url.split('?')[0] ?? ''
    expect(['GET /api/hello', 'POST /api/login', 'GET /api/hub', 'GET /api/events']).toContain(`${method} ${path}`)
    expect(JSON.stringify({ url, headers, body })).not.toContain(key)
    expect(headers.cookie).toBeUndefined()
  }

  squatter.closeAllConnections()
  await new Promise((resolve) => squatter.close(resolve))
  hub = await startHub(project, {}, ['--port', String(port)])
  await page.evaluate("window.dispatchEvent(new Event('online'))")
  await page.waitForSelector(LIVE)
  // Everything that was received, and the passes in it with another request.
  for (const { method, url, headers, body } of received) {
    const { host = '', ...rest } = headers as Record<string, string>
    const reply = await ask(port, url, { method, headers: { ...rest, Host: host }, body })
    if (!url.startsWith('/api/hello')) expect([url, reply.status]).toEqual([url, 401])
    const pass = headers['x-heimdall-pass'] ?? new URL(url, hub.url).searchParams.get('pass')
    if (typeof pass !== 'string') continue
    expect((await ask(port, '/api/fleet', { headers: { Host: host, 'X-Heimdall-Pass': pass } })).status).toBe(401)
  }
  expect(complaints).toEqual([])
})
