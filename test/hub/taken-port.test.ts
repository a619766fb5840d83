// Another program takes the port of a hub that has stopped, or relays to a hub on another port: nothing that it receives opens a hub, and commands send it nothing.
import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { refusalReply } from '../../src/hub/contract.ts'
import { spine } from '../spine/spine.ts'
import { ask, comeBack, passProof, startHub } from '../support/hub.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { fixture, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { until } from '../support/wait.ts'

test('a hub makes its key and exports it while Node.js collects garbage', async () => {
  const [node, script] = fixture('hub-keys')
  // A small young generation: the defect of Node.js that this avoids showed within a thousand keys.
  const { code } = await runProgram([node, '--max-semi-space-size=1', script, temporaryFolder()])
  expect(code).toBe(0)
})

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

test('passes and proofs of a hub that was killed open neither the next hub on its port nor one on another port', async () => {
  const project = spine()
  const hub = await startHub(project)
  const { port } = hub
  const browser = await hub.browser()
  const proofs = [
    await passProof(port, browser.identity),
    await passProof(port, browser.identity, `127.0.0.1:${port + 1}`),
  ]
  const state = join(project.home, '.local/state/heimdall')
  const { pid } = JSON.parse(readFileSync(join(state, 'hub.json'), 'utf8')) as { readonly pid: number }
  process.kill(pid, 'SIGKILL')
  await hub.terminal.ended

  // `heimdall open` finds the files of the killed hub, and another program on its port.
  const received: Buffer[] = []
  const squatter = createServer((socket) => socket.on('data', (bytes) => received.push(bytes)).on('error', () => {}))
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void squatter.close())
  const opener = ownTerminal([...launcher('heimdall'), 'open'], { cwd: project.root, env: project.env })
  expect(await opener.ended, opener.written()).toBe(0)
  // It has started another, which listens elsewhere, and sends nothing to the program.
  expect(opener.written()).toMatch(/http:\/\/127\.0\.0\.1:\d+\/#key=/)
  expect(opener.written()).not.toContain(`http://127.0.0.1:${port}/`)
  const stopper = ownTerminal([...launcher('heimdall'), 'up', '--stop'], { cwd: project.root, env: project.env })
  expect(await stopper.ended, stopper.written()).toBe(0)
  expect(Buffer.concat(received).toString()).toBe('')

  const refusalsOf = async (at: number): Promise<string[]> => {
    const host = `127.0.0.1:${at}`
    const headers = { Host: host, Origin: `http://${host}`, 'Content-Type': 'application/json' }
    const shown = { ...headers, 'X-Heimdall-Pass': browser.pass }
    const post = { method: 'POST', body: JSON.stringify({ text: 'typed by another user' }) }
    const replies = [
      await ask(at, '/api/fleet', { headers: shown }),
      await ask(at, `/api/events?pass=${browser.pass}`, { headers }),
      await ask(at, '/api/agents/any/input', { ...post, headers: shown }),
    ]
    for (const proof of proofs)
      replies.push(await ask(at, '/api/pass', { method: 'POST', headers, body: JSON.stringify(proof) }))
    return replies.map((reply) => refusalReply.parse(reply.json()).error.code)
  }
  const allRefused = Array.from({ length: 5 }, () => 'HUB_TOKEN_REQUIRED')

  // The hub on another port knows the same browser. The program on the first port relays between the two.
  const other = await startHub(project)
  expect(other.port).not.toBe(port)
  expect(await refusalsOf(other.port)).toEqual(allRefused)
  const json = { Host: `127.0.0.1:${other.port}`, Origin: other.origin, 'Content-Type': 'application/json' }
  const relayed = await passProof(other.port, browser.identity, `127.0.0.1:${port}`)
  const given = await ask(other.port, '/api/pass', {
    method: 'POST',
    headers: json,
    body: JSON.stringify(relayed),
  })
  expect(given.status).toBe(401)
  // So is a link that was pasted into the page of the wrong port: it is not used up, and opens the right one.
  const key = /#key=(.+)$/.exec(other.link)?.[1] ?? ''
  const visitor = 'A'.repeat(100)
  const proof = createHmac('sha256', key).update(`heimdall login\n127.0.0.1:${port}\n${visitor}`).digest('base64url')
  const link = createHash('sha256').update(key).digest('hex')
  const body = JSON.stringify({ link, visitor, proof })
  const login = await ask(other.port, '/api/login', { method: 'POST', headers: json, body })
  expect([login.status, login.text]).toEqual([401, expect.stringContaining('HUB_LINK_SPENT')])
  const { pass } = await other.browser()
  // A connection that outlives the port by a moment takes no pass that was sent to the next program there.
  const late = connect(other.port, '127.0.0.1')
  late.write(`GET /api/fleet HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\nX-Heimdall-Pass: ${pass}\r\n`)
  await once(late, 'connect')
  await ask(other.port, '/api/fleet', { headers: { ...json, 'X-Heimdall-Pass': pass } })
  const stopped = other.stop()
  await until('the port to be free', () => isFree(other.port))
  late.write('\r\n')
  expect(await text(late)).not.toContain(' 200 ')
  expect(await stopped).toBe(0)

  await new Promise((resolve) => squatter.close(resolve))
  const again = await startHub(project, ['--port', String(port)])
  expect(await refusalsOf(port)).toEqual(allRefused)
  // The browser itself is still signed in; what the hub has on disk signs nobody in.
  const back = await comeBack(port, browser.identity)
  await back.get('/api/hub')
  expect(back.pass).not.toBe(browser.pass)
  const kept = readFileSync(join(state, 'hub-visitors.json'), 'utf8')
  expect(kept).toContain(browser.identity.id)
  for (const secret of [back.pass, browser.identity.key.d ?? '']) expect(kept).not.toContain(secret)
  expect(again.terminal.written()).not.toContain('bug:')
})
