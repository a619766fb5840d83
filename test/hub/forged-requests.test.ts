// Nobody but the hub's owner reaches anything: a matrix of forged requests, each with the answer that the gate owes it (trust-and-experience A3 rows 2 and 3).
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runLauncher } from '../support/in-process.ts'
import { refusalReply } from '../../src/hub/contract.ts'
import { spine } from '../spine/spine.ts'
import { ask, type Ask, openBrowser, startHub } from '../support/hub.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'

test('the matrix: names, origins, tokens, methods and paths', async () => {
  const project = spine()
  const hub = await startHub(project, ['--allow-host', 'phone.example.ts.net'])
  const { cookie, pass } = await hub.browser()
  const { port } = hub
  const host = `127.0.0.1:${port}`
  const origin = `http://${host}`
  const shown = { Cookie: cookie, 'X-Heimdall-Pass': pass }
  const own = { Host: host, ...shown }
  const json = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ minutes: 5 })
  const later = '/api/waits/nothing/later'

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

  // Another page that sends with our cookie, or a missing origin, which is no better (CSRF).
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
    for (const path of [later, '/api/login'])
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
    cases.push(['/api/fleet', 403, 'HUB_ORIGIN_REFUSED', { headers: { ...own, 'Sec-Fetch-Site': site } }])
  cases.push(['/api/fleet', 403, 'HUB_ORIGIN_REFUSED', { headers: { ...own, Origin: 'http://evil.example' } }])

  // Nobody's cookie, an old one, two of them, the right one under another name.
  const value = cookie.split('=')[1] ?? ''
  for (const forged of [
    undefined,
    '',
    `heimdall_${port}=`,
    `heimdall_${port}=${value}x`,
    `heimdall_${port}=${value.slice(0, -1)}`,
    `heimdall_${port + 1}=${value}`,
    `heimdall=${value}`,
    `${cookie}; ${cookie}`,
    `${cookie}; heimdall_${port}=x`,
    `heimdall_${port}=__proto__`,
  ]) {
    const headers = { Host: host, 'X-Heimdall-Pass': pass, ...(forged === undefined ? {} : { Cookie: forged }) }
    for (const path of ['/api/fleet', '/api/events', '/api/hub'])
      cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { headers }])
    cases.push([
      later,
      401,
      'HUB_TOKEN_REQUIRED',
      { method: 'POST', headers: { ...headers, ...json, Origin: origin }, body },
    ])
  }
  cases.push(['/api/fleet', 401, 'HUB_TOKEN_REQUIRED', { headers: { Host: host, Authorization: `Bearer ${value}` } }])

  // The right cookie alone: a browser gives it to every port of this host, and somebody else may listen there.
  const stolen = { Host: host, Cookie: cookie }
  for (const forged of [undefined, '', `${pass}x`, pass.slice(1), value, '__proto__']) {
    const headers = { ...stolen, ...(forged === undefined ? {} : { 'X-Heimdall-Pass': forged }) }
    for (const path of ['/api/fleet', '/api/events', '/api/hub'])
      cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { headers }])
    cases.push([
      later,
      401,
      'HUB_TOKEN_REQUIRED',
      { method: 'POST', headers: { ...headers, ...json, Origin: origin }, body },
    ])
  }
  for (const query of ['pass=', `pass=${value}`, `pass=${pass}&pass=${pass}`, `Pass=${pass}`])
    cases.push([`/api/fleet?${query}`, 401, 'HUB_TOKEN_REQUIRED', { headers: stolen }])

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

  // What programs on this machine ask is for no page, and takes the secret of the hub's file.
  for (const path of ['/control/link', '/hook/claude-code']) {
    const post = { method: 'POST', body: '{}' }
    cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { ...post, headers: { ...own, ...json } }])
    cases.push([path, 401, 'HUB_TOKEN_REQUIRED', { ...post, headers: { ...own, ...json, Authorization: 'Bearer x' } }])
    cases.push([path, 403, 'HUB_ORIGIN_REFUSED', { ...post, headers: { ...own, ...json, Origin: origin } }])
    cases.push([path, 403, 'HUB_ORIGIN_REFUSED', { ...post, headers: { ...own, ...json, 'Sec-Fetch-Site': 'none' } }])
  }

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
  expect((await ask(port, '/api/fleet', { headers: { ...own, Host: `localhost:${port}` } })).status).toBe(200)
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
  const { cookie, pass } = await hub.browser()
  const host = `127.0.0.1:${port}`
  const raw = (lines: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`))
      let text = ''
      socket.setEncoding('utf8').on('data', (more: string) => {
        text += more
        socket.end()
      })
      socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''))
      socket.on('error', reject)
    })
  const get = 'GET /api/fleet HTTP/1.1'
  expect(await raw([get, `Host: ${host}`, 'Host: evil.example', `Cookie: ${cookie}`])).toMatch(/ 40[03] /)
  expect(
    await raw([get, `Host: ${host}`, `Origin: http://${host}`, 'Origin: http://evil.example', `Cookie: ${cookie}`]),
  ).toMatch(/ 403 /)
  const upgrade = [
    'GET /api/terminals/amber-otter HTTP/1.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const good = [`Host: ${host}`, `Origin: http://${host}`, `Cookie: ${cookie}`, `X-Heimdall-Pass: ${pass}`]
  expect(await raw([...upgrade, ...good])).toMatch(/ 404 /)
  expect(await raw([...upgrade, `Host: evil.example`, ...good.slice(1)])).toMatch(/ 403 /)
  expect(await raw([...upgrade, `Host: ${host}`, 'Origin: http://evil.example', `Cookie: ${cookie}`])).toMatch(/ 403 /)
  expect(await raw([...upgrade, `Host: ${host}`, `Cookie: ${cookie}`])).toMatch(/ 403 /)
  expect(await raw([...upgrade, ...good.slice(0, 2)])).toMatch(/ 401 /)
  expect(await raw([...upgrade, ...good.slice(0, 3)])).toMatch(/ 401 /)
  // A browser has no headers of ours there.
  const inAddress = upgrade.with(0, `GET /api/terminals/amber-otter?pass=${pass} HTTP/1.1`)
  expect(await raw([...inAddress, ...good.slice(0, 3)])).toMatch(/ 404 /)

  await expect(openBrowser(port, link)).rejects.toThrow(/HUB_LINK_SPENT/)
  await expect(openBrowser(port, `${link.split('#')[0]}#key=guess`)).rejects.toThrow(/HUB_LINK_SPENT/)
  // The cookie is the browser's alone.
  expect(cookie).toMatch(/^heimdall_\d+=[\w-]{43}$/)
  const { code, stderr } = await runLauncher('heimdall', ['open'], { cwd: project.root, env: project.env })
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('takes a person at a terminal') })
  // Who can read the file of the hub, as every agent of this user can, gets no link by its secret: the process that asks is looked at.
  const { secret } = JSON.parse(readFileSync(join(project.home, '.local/state/heimdall/hub.json'), 'utf8')) as {
    readonly secret: string
  }
  const asked = await ask(port, '/control/link', {
    method: 'POST',
    headers: { Host: host, 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: '{}',
  })
  expect(asked.status).toBe(403)
  expect(asked.text).toContain('PERSON_REQUIRED')
  // Folders that are none are refused, and nothing of it is a fault of the hub.
  for (const [folder, status] of [
    ['/nowhere/at-all', 404],
    ['.', 400],
    ['/a\0b', 400],
  ] as const) {
    const shown = await ask(port, '/control/projects', {
      method: 'POST',
      headers: { Host: host, 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
      body: JSON.stringify({ folder }),
    })
    expect([folder, shown.status, refusalReply.safeParse(shown.json()).success]).toEqual([folder, status, true])
  }
  expect(hub.terminal.written()).not.toContain('bug:')
  // A person gets another one, and by it another browser.
  const terminal = ownTerminal([...launcher('heimdall'), 'open'], { cwd: project.root, env: project.env })
  expect(await terminal.ended).toBe(0)
  const next = /http:\S+#key=\S+/.exec(terminal.written())?.[0] ?? ''
  expect((await openBrowser(port, next)).cookie).not.toBe(cookie)
})
