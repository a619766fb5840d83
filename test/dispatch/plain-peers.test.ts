// Peers that know nothing of the extension, or are not well: nothing is sent to them twice, nothing waits for them for ever, and another gets what they will not have.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import type { Coordination } from '../../src/coordination/coordination.ts'
import { A2aPeer } from '../../src/dispatch/a2a/a2a-peer.ts'
import { beginNext, endAttempt } from '../../src/dispatch/attempts.ts'
import { resultOf, type TaskResult } from '../../src/dispatch/messages.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import type { Peer } from '../../src/dispatch/peer.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { cancelTask, showTask } from '../../src/dispatch/tasks.ts'
import { takeAnnounce } from '../../src/dispatch/workers.ts'
import { DISPATCH_LOST_AFTER_MS, PEER_ANSWER_BYTES_MAX } from '../../src/limits.ts'
import { openRoom } from '../coordination/room.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { until } from '../support/wait.ts'
import { announceOf, contractOf, ownWorker } from './worker-in-process.ts'

interface Plain {
  readonly url: string
  /** Messages that came, without looks at the card. */
  readonly heard: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly id: unknown }[]
}

/** Shows a card of 1.0 without extensions; what it does with a message is the test's. */
async function plainPeer(onMessage: (one: Plain['heard'][number]) => void): Promise<Plain> {
  const heard: Plain['heard'] = []
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      response.setHeader('Content-Type', 'application/json')
      if (request.method === 'GET') return response.end(JSON.stringify(cardAt(url)))
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: unknown }
      const one = { request, response, id }
      heard.push(one)
      return onMessage(one)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, heard }
}

const cardAt = (url: string): object => ({
  name: 'plain',
  description: 'd',
  version: '1',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
})

const peerAt = (name: string, url: string): A2aPeer =>
  new A2aPeer({ name, url, token: () => name, clock: systemClock, note: () => undefined })

function orchestrate(room: Coordination, peers: Readonly<Record<string, string>>): { stop: () => Promise<void> } {
  const all = new Map(Object.entries(peers).map(([name, url]) => [name, { url, peer: peerAt(name, url) }]))
  const orchestrator = new Orchestrator({ room, peers: () => all, note: () => undefined })
  const running = orchestrator.run()
  const stop = async (): Promise<void> => {
    orchestrator.stop()
    await running
  }
  onTestFinished(stop)
  return { stop }
}

const stateOf = (room: Coordination, taskId: string): string => showTask(room, taskId).task.state

const lastResult = (room: Coordination, taskId: string): TaskResult =>
  JSON.parse(showTask(room, taskId).attempts.at(-1)?.result ?? '{}') as TaskResult

const rpcError = ({ response, id }: Plain['heard'][number], code: number): void =>
  void response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: `error ${code}` } }))

test('a message that a plain peer has not answered is not sent again: it would be another task there', async () => {
  const { url, heard } = await plainPeer(({ request }) => void request.socket.destroy())
  const room = openRoom({ clock: systemClock })
  orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-1'), title: 'P-1' })
  await until('it to be for a person', () => stateOf(room, 'P-1') === 'triage')
  expect([heard.length, showTask(room, 'P-1').attempts.map(({ state }) => state)]).toEqual([1, ['lost']])
})

test('nor by the orchestrator after one that was killed while it was on its way', async () => {
  const { url, heard } = await plainPeer(() => undefined)
  const room = openRoom({ clock: systemClock })
  const first = orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-2'), title: 'P-2' })
  await until('it to be there', () => heard.length === 1)
  await first.stop()
  expect(showTask(room, 'P-2').attempts.map(({ state }) => state)).toEqual(['sent'])
  orchestrate(room, { w: url })
  await until('it to be for a person', () => stateOf(room, 'P-2') === 'triage')
  expect(heard).toHaveLength(1)
})

test('one that never answers holds nobody who wants the task cancelled', async () => {
  const { url, heard } = await plainPeer(() => undefined)
  const room = openRoom({ clock: systemClock })
  orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-3'), title: 'P-3' })
  await until('it to be there', () => heard.length === 1)
  await cancelTask(room, 'P-3', 'enough')
  await until('it to be cancelled', () => stateOf(room, 'P-3') === 'canceled')
})

/** Writes until nobody listens any more. */
const endless = (response: ServerResponse, chunk: Buffer): void => {
  const more = (): void => void (response.destroyed || response.write(chunk, more))
  more()
}

test.each([
  ['has no end', ({ response }: Plain['heard'][number]) => endless(response, Buffer.alloc(1 << 20, ' '))],
  [
    'unpacks to more than a thousand times its size',
    ({ response }: Plain['heard'][number]) => {
      const packed = gzipSync(Buffer.alloc(2 * PEER_ANSWER_BYTES_MAX, ' '))
      response.setHeader('Content-Encoding', 'gzip').setHeader('Content-Length', packed.length).end(packed)
    },
  ],
  [
    'says that it is a gigabyte',
    ({ response }: Plain['heard'][number]) => {
      response.setHeader('Content-Length', 1 << 30)
      endless(response, Buffer.alloc(1 << 10, ' '))
    },
  ],
] as const)('an answer that %s is let go, and ends the attempt', async (what, onMessage) => {
  const { url, heard } = await plainPeer(onMessage)
  const room = openRoom({ clock: systemClock })
  orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-9'), title: 'P-9' })
  // What is not unpacked is no answer in the protocol: whether it has begun is asked of a human.
  const isRead = what !== 'unpacks to more than a thousand times its size'
  await until('it to end', () => stateOf(room, 'P-9') === (isRead ? 'failed' : 'triage'))
  const [attempt, ...others] = showTask(room, 'P-9').attempts
  expect([attempt?.state, others]).toEqual([isRead ? 'error' : 'lost', []])
  expect(JSON.parse(attempt?.result ?? (isRead ? '' : '{}'))).toMatchObject(
    isRead
      ? {
          error: { code: 'answer_too_large', side_effects: 'possible' },
        }
      : {},
  )
  await until(
    'nobody to listen',
    () => heard[0]?.response.writableFinished === true || heard[0]?.response.destroyed === true,
  )
})

test.each([
  ['will have no such message', (one: Plain['heard'][number]) => rpcError(one, -32_005)],
  ['says that it is too large', ({ response }: Plain['heard'][number]) => tooLarge(response)],
] as const)('what a peer refuses goes to another: one that %s', async (_what, onMessage) => {
  const { url, heard } = await plainPeer(onMessage)
  const own = ownWorker()
  const room = openRoom({ clock: systemClock })
  // Its card says nothing of a tier, so it is the last choice; the other comes when it has refused.
  const first = orchestrate(room, { a: url })
  await sendTask(room, { contract: contractOf('P-4'), title: 'P-4' })
  await until('it to refuse', () => showTask(room, 'P-4').attempts[0]?.state === 'blocked')
  expect(lastResult(room, 'P-4')).toMatchObject({ tokens_spent: 0, blocked: { code: 'message_refused' } })
  await first.stop()
  orchestrate(room, { a: url, w: await own.serve() })
  await until('the other to begin', () => own.started.length === 1)
  own.end('P-4')
  await until('it to be done', () => stateOf(room, 'P-4') === 'done')
  expect(heard).toHaveLength(1)
})

test('one in the manner of Hermes says with the code of a task that is not there that it is busy', async () => {
  const { url } = await plainPeer((one) => rpcError(one, -32_001))
  const room = openRoom({ clock: systemClock })
  orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-6'), title: 'P-6' })
  await until('it to wait', () => stateOf(room, 'P-6') === 'parked')
  expect(lastResult(room, 'P-6')).toMatchObject({ status: 'blocked', blocked: { class: 'overload' } })
})

function tooLarge(response: ServerResponse): void {
  response.statusCode = 413
  response.end('{"error":"too large"}')
}

test('one that fails over the message may have begun: nobody tries again', async () => {
  const { url, heard } = await plainPeer((one) => rpcError(one, -32_603))
  const room = openRoom({ clock: systemClock })
  orchestrate(room, { w: url })
  await sendTask(room, { contract: contractOf('P-5'), title: 'P-5' })
  await until('it to fail', () => stateOf(room, 'P-5') === 'failed')
  expect([heard.length, lastResult(room, 'P-5').error]).toMatchObject([
    1,
    { code: 'peer_fault', side_effects: 'possible' },
  ])
})

test('sent again by the next orchestrator, an attempt has what is left of the budget, and not all of it', async () => {
  const room = openRoom({ clock: systemClock })
  await takeAnnounce(room, { name: 'w', url: null, speaks: 'extension' }, announceOf('w'))
  const task = { task_id: 'B-1', token_budget: 100, idempotent: true }
  await sendTask(room, { contract: contractOf('B-1', { task }), title: 'B-1' })
  const { begun } = await beginNext(room)
  if (begun === undefined) throw new Error('nothing was begun')
  const failed = resultOf({ task_id: 'B-1', attempt: 1, status: 'error', tokens_spent: 60, error: { summary: 'no' } })
  await endAttempt(room, begun.attempt, { kind: 'result', result: failed })
  // Chosen, and then the orchestrator is gone.
  expect((await beginNext(room)).begun?.contract.task.token_budget).toBe(40)
  const budgets: unknown[] = []
  const peer: Partial<Peer> = {
    send: async ({ task: { token_budget: budget } }) => {
      budgets.push(budget)
      return { kind: 'ended', remoteId: 'r', result: resultOf({ task_id: 'B-1', attempt: 2, status: 'done' }) }
    },
    pull: async () => undefined,
  }
  const peers = new Map([['w', { url: '', peer: peer as Peer }]])
  const orchestrator = new Orchestrator({ room, peers: () => peers, note: () => undefined })
  const running = orchestrator.run()
  await until('it to be done', () => stateOf(room, 'B-1') === 'done')
  expect(budgets).toEqual([40])
  orchestrator.stop()
  await running
})

test('a peer that has too many requests while its task runs is asked again', async () => {
  const clock = fakeClock()
  const room = openRoom({ clock })
  await takeAnnounce(room, { name: 'w', url: null, speaks: 'extension' }, announceOf('w'))
  let looks = 0
  const peer: Partial<Peer> = {
    send: async () => ({ kind: 'working', remoteId: 'r' }),
    follow: async () => {
      looks += 1
      // Longer than one may stay silent that is gone.
      if (looks === 1) clock.advance(DISPATCH_LOST_AFTER_MS)
      if (looks < 3) return { kind: 'rejected', why: 'w has too many requests (429)', how: 'busy' }
      return { kind: 'ended', remoteId: 'r', result: resultOf({ task_id: 'B-2', attempt: 1, status: 'done' }) }
    },
    pull: async () => undefined,
  }
  const peers = new Map([['w', { url: '', peer: peer as Peer }]])
  const orchestrator = new Orchestrator({ room, peers: () => peers, note: () => undefined })
  const running = orchestrator.run()
  await sendTask(room, { contract: contractOf('B-2'), title: 'B-2' })
  await until('it to be done', () => {
    clock.advance(100)
    return stateOf(room, 'B-2') !== 'queued' && stateOf(room, 'B-2') !== 'in_progress'
  })
  expect([stateOf(room, 'B-2'), looks]).toEqual(['done', 3])
  orchestrator.stop()
  await running
})

test('the largest brief there is, of characters that are six each on the way, is taken', async () => {
  const { serve, started, end } = ownWorker()
  const url = await serve()
  const brief = '\u0001'.repeat(256 << 10)
  expect(await peerAt('w', url).send(contractOf('L-1', { brief }), [], new AbortController().signal)).toMatchObject({
    kind: 'working',
  })
  await until('it to begin', () => started.length === 1)
  end('L-1')
})
