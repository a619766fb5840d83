// Nobody but the hub's owner reaches anything: a matrix of forged requests, each with the answer that the gate owes it (trust-and-experience A3 rows 2 and 3).
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { refusalReply } from '../../src/hub/contract.ts'
import { spine } from '../spine/spine.ts'
import { ask, type Ask, openBrowser, startHub } from '../support/hub.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'

test('the matrix: names, origins, passes, methods and paths', async () => {
  const project = spine()
  const hub = await startHub(project, ['--allow-host', 'phone.example.ts.net'])
  const { pass } = await hub.browser()
  const { port } = hub
  const host = `127.0.0.1:${port}`
  const origin = `http://${host}`
  const shown = { 'X-Heimdall-Pass': pass }
  const own = { Host: host, ...shown }
  const json = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ minutes: 5 })
  const later = '/api/waits/nothing/snooze'

  const cases: [string, number, string, Ask?][] = []
  // A web page that had its name resolve to this machine (DNS rebinding).
  for (const name of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    'localhost',
    `localhost.:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `127.1:${port}`,
    `0.0.0.0:${port}`,
    `2130706433:${port}`,
    `0x7f000001:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}@evil.example`,
    `127.0.0.1:${port}, evil.example`,
    ' ',
    'phone.example.ts.net.evil.example',
    'xphone.example.ts.net',
  ])
    for (const path of ['/api/fleet', '/'])
      cases.push([path, 403, 'HUB_HOST_REFUSED', { headers: { ...own, Host: name } }])
  cases.push(['/api/fleet', 403, 'HUB_HOST_REFUSED', { headers: shown }])
  // Another user can listen on [::1], which browsers try first for localhost: a pass that was sent there opens nothing.
  for (const name of [`localhost:${port}`, `[::1]:${port}`]) {
    const headers = { ...own, ...json, Host: name, Origin: `http://${name}` }
    for (const path of ['/api/fleet', '/api/hello?nonce=AAAAAAAAAAAAAAAAAAAAAA', `/api/events?pass=${pass}`])
      cases.push([path, 403, 'HUB_HOST_REFUSED', { headers }])
    for (const path of [later, '/api/login', '/api/pass', '/'])
      cases.push([path, 403, 'HUB_HOST_REFUSED', { method: 'POST', headers, body }])
  }

  // Another page, or a missing origin, which is no better (CSRF).
  for (const from of [
    undefined,
    'null',
    'http://evil.example',
    `http://localhost:${port}`,
    `https://${host}`,
    `http://127.0.0.1:${port + 1}`,
    'http://127.0.0.1',
    `${origin}.evil.example`,
    `${origin}/`,
    `http://evil.example:${port}`,
    'file://',
    'chrome-extension://abc',
  ])
    for (const path of [later, '/api/login', '/api/pass'])
      cases.push([
        path,
        403,
        'HUB_ORIGIN_REFUSED',
        { method: 'POST', headers: { ...own, ...json, ...(from === undefined ? {} : { Origin: from }) }, body },
      ])
  for (const site of ['cross-site', 'same-site', 'none'])
    cases.push([
      later,
      403,
      'HUB_ORIGIN_REFUSED',
      { method: 'POST', headers: { ...own, ...json, Origin: origin, 'Sec-Fetch-Site': site }, body },
    ])
  for (const site of ['cross-site', 'same-site'])
    for (const path of ['/api/fleet', '/api/hello?nonce=aaaaaaaaaaaaaaaaaaaaaaaa'])
      cases.push([path, 403, 'HUB_ORIGIN_REFUSED', { headers: { ...own, 'Sec-Fetch-Site': site } }])
  cases.push(['/api/fleet', 403, 'HUB_ORIGIN_REFUSED', { headers: { ...own, Origin: 'http://evil.example' } }])

  // No pass, a wrong one, the right one in another place.
  for (const forged of [undefined, '', `${pass}x`, pass.slice(1), 'x'.repeat(43), '__proto__']) {
    const headers = { Host: host, ...(forged === undefined ? {} : { 'X-Heimdall-Pass': forged }) }
    for (const path of ['/api/fleet', '/api/events', '/api/hub'])
      cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { headers }])
    cases.push([
      later,
      401,
      'HUB_TOKEN_REQUIRED',
      { method: 'POST', headers: { ...headers, ...json, Origin: origin }, body },
    ])
  }
  for (const query of ['pass=', `pass=${pass}&pass=${pass}`, `Pass=${pass}`])
    cases.push([`/api/fleet?${query}`, 401, 'HUB_TOKEN_REQUIRED', { headers: { Host: host } }])
  for (const more of [{ Authorization: `Bearer ${pass}` }, { Cookie: `heimdall_${port}=${pass}; pass=${pass}` }])
    cases.push(['/api/fleet', 401, 'HUB_TOKEN_REQUIRED', { headers: { Host: host, ...more } }])

  // Paths that could be read in two ways: never past the gate.
  for (const path of [
    '/x/../api/fleet',
    '//api/fleet',
    '/api//fleet',
    '/./api/fleet',
    '/%2e%2e/api/fleet',
    '/api%2f..%2fapi/fleet',
    '/\\api/fleet',
    '/%E0%A4%A',
  ])
    cases.push([path, 404, 'HUB_NOT_FOUND', { headers: { Host: host } }])
  for (const path of ['/%61pi/fleet', '/api/%66leet'])
    cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { headers: { Host: host } }])
  cases.push([`http://evil.example/api/fleet`, 404, 'HUB_NOT_FOUND', { headers: { Host: host } }])

  // Methods, and bodies that a form could send without asking first.
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
    cases.push(['/api/fleet', 405, 'HUB_METHOD_REFUSED', { method, headers: { ...own, Origin: origin } }])
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
  ])
    cases.push([
      later,
      400,
      'HUB_REQUEST_INVALID',
      { method: 'POST', headers: { ...own, Origin: origin, 'Content-Type': type }, body },
    ])
  cases.push(['/', 405, 'HUB_METHOD_REFUSED', { method: 'POST', headers: { ...own, ...json, Origin: origin }, body }])

  // Hooks are for no page, and take the secret of the hub's file.
  const post = { method: 'POST', body: '{}' }
  for (const [status, code, more] of [
    [401, 'HUB_TOKEN_REQUIRED', {}],
    [401, 'HUB_TOKEN_REQUIRED', { Authorization: 'Bearer x' }],
    [403, 'HUB_ORIGIN_REFUSED', { Origin: origin }],
    [403, 'HUB_ORIGIN_REFUSED', { 'Sec-Fetch-Site': 'none' }],
  ] as const)
    cases.push(['/hook/claude-code', status, code, { ...post, headers: { ...own, ...json, ...more } }])
  // What commands ask is asked over the unix socket alone.
  const { secret } = JSON.parse(readFileSync(join(project.home, '.local/state/heimdall/hub.json'), 'utf8')) as {
    readonly secret: string
  }
  for (const path of ['/control/link', '/control/projects'])
    cases.push([
      path,
      405,
      'HUB_METHOD_REFUSED',
      { ...post, headers: { ...own, ...json, Origin: origin, Authorization: `Bearer ${secret}` } },
    ])

  expect(cases.length).toBeGreaterThanOrEqual(60)
  const wrong: string[] = []
  for (const [path, status, code, how] of cases) {
    const reply = await ask(port, path, how)
    const said = refusalReply.safeParse(JSON.parse(reply.text))
    if (reply.status !== status || said.data?.error.code !== code)
      wrong.push(`${how?.method ?? 'GET'} ${path} ${JSON.stringify(how?.headers)}: ${reply.status} ${reply.text}`)
    // No word that would let another page read an answer.
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    expect(reply.headers['content-security-policy']).toContain("script-src 'self'")
  }
  expect(wrong).toEqual([])

  // What is right passes, also by the name of the tunnel.
  expect((await ask(port, '/api/fleet', { headers: own })).status).toBe(200)
  const moved = await ask(port, '/needs-you', { headers: { Host: `localhost:${port}` } })
  expect([moved.status, moved.headers['location']]).toEqual([307, `${origin}/needs-you`])
  const tunnel = { ...own, Host: 'phone.example.ts.net' }
  expect((await ask(port, '/api/fleet', { headers: tunnel })).status).toBe(200)
  const throughTunnel = { ...tunnel, ...json, Origin: 'https://phone.example.ts.net' }
  expect((await ask(port, later, { method: 'POST', headers: throughTunnel, body })).status).toBe(200)
  const page = await ask(port, '/needs-you', { headers: { Host: host, 'Sec-Fetch-Site': 'cross-site' } })
  expect(page.status).toBe(200)
  expect(page.headers['content-type']).toContain('text/html')
})

test('a header that came twice is a forgery, an upgrade is judged like a request, and a link is good for one visit', async () => {
  const project = spine()
  const hub = await startHub(project)
  const { port, link } = hub
  const { pass, identity } = await hub.browser()
  const host = `127.0.0.1:${port}`
  const raw = (lines: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`))
      let seen = ''
      socket.setEncoding('utf8').on('data', (more: string) => {
        seen += more
        socket.end()
      })
      socket.on('close', () => resolve(seen.split('\r\n')[0] ?? ''))
      socket.on('error', reject)
    })
  const get = 'GET /api/fleet HTTP/1.1'
  const shown = `X-Heimdall-Pass: ${pass}`
  expect(await raw([get, `Host: ${host}`, 'Host: evil.example', shown])).toMatch(/ 40[03] /)
  expect(await raw([get, `Host: ${host}`, `Origin: http://${host}`, 'Origin: http://evil.example', shown])).toMatch(
    / 403 /,
  )
  const upgrade = [
    'GET /api/terminals/amber-otter HTTP/1.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const good = [`Host: ${host}`, `Origin: http://${host}`, shown]
  expect(await raw([...upgrade, ...good])).toMatch(/ 404 /)
  expect(await raw([...upgrade, `Host: evil.example`, ...good.slice(1)])).toMatch(/ 403 /)
  expect(await raw([...upgrade, `Host: ${host}`, 'Origin: http://evil.example', shown])).toMatch(/ 403 /)
  expect(await raw([...upgrade, `Host: ${host}`, shown])).toMatch(/ 403 /)
  expect(await raw([...upgrade, ...good.slice(0, 2)])).toMatch(/ 401 /)
  // A browser has no headers of ours there.
  const inAddress = upgrade.with(0, `GET /api/terminals/amber-otter?pass=${pass} HTTP/1.1`)
  expect(await raw([...inAddress, ...good.slice(0, 2)])).toMatch(/ 404 /)

  await expect(openBrowser(port, link)).rejects.toThrow(/HUB_LINK_SPENT/)
  await expect(openBrowser(port, `${link.split('#')[0]}#key=guess`)).rejects.toThrow(/HUB_LINK_SPENT/)
  const { code, stderr } = await runLauncher('heimdall', ['open'], { cwd: project.root, env: project.env })
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('needs a human at a terminal') })

  // Every agent of this user can connect to the socket, and gets no link: neither for itself nor as the human who runs the hub.
  const state = join(project.home, '.local/state/heimdall')
  expect(statSync(state).mode & 0o777).toBe(0o700)
  const socketPath = join(state, 'hub.sock')
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  const { pid } = JSON.parse(readFileSync(join(state, 'hub.json'), 'utf8')) as { readonly pid: number }
  const held = openSync(join(state, 'hub.json'), 'r+')
  for (const asks of [process.pid, pid, 1]) {
    const asked = await control(socketPath, '/control/link', { pid: asks })
    expect([asks, asked.status, asked.text]).toEqual([asks, 403, expect.stringContaining('PERSON_REQUIRED')])
  }
  closeSync(held)
  for (const body of [{}, { pid: -1 }, { pid: '1' }, { pid: 1.5 }])
    expect((await control(socketPath, '/control/link', body)).status).toBe(400)
  // Folders that are none are refused, and nothing of it is a fault of the hub.
  for (const [folder, status] of [
    ['/nowhere/at-all', 404],
    ['.', 400],
    ['/a\0b', 400],
  ] as const) {
    const reply = await control(socketPath, '/control/projects', { folder })
    expect([folder, reply.status, refusalReply.safeParse(JSON.parse(reply.text)).success]).toEqual([
      folder,
      status,
      true,
    ])
  }
  expect(hub.terminal.written()).not.toContain('bug:')
  // A person gets another one, and by it another browser.
  const terminal = ownTerminal([...launcher('heimdall'), 'open'], { cwd: project.root, env: project.env })
  expect(await terminal.ended).toBe(0)
  const next = /http:\S+#key=\S+/.exec(terminal.written())?.[0] ?? ''
  expect((await openBrowser(port, next)).identity.id).not.toBe(identity.id)
})

interface Controlled {
  readonly status: number
  readonly text: string
}

/** One request to the unix socket of the hub. */
function control(socketPath: string, path: string, body: unknown): Promise<Controlled> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' }
    const asking = request({ socketPath, path, method: 'POST', agent: false, headers }, (response) => {
      void text(response).then((said) => resolve({ status: response.statusCode ?? 0, text: said }), reject)
    })
    asking.on('error', reject)
    asking.end(JSON.stringify(body))
  })
}
