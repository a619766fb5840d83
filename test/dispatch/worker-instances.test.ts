// What is known of a worker when its process has gone, or another has come in its place.
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/clock.ts'
import { Orchestrator } from '../../src/dispatch/orchestrator.ts'
import { resultOf } from '../../src/dispatch/messages.ts'
import type { Peer } from '../../src/dispatch/peer.ts'
import { sendTask } from '../../src/dispatch/send-task.ts'
import { showTask } from '../../src/dispatch/tasks.ts'
import { candidates, takeAnnounce } from '../../src/dispatch/workers.ts'
import { openRoom } from '../coordination/room.ts'
import { until } from '../support/wait.ts'
import { announceOf, contractOf } from './worker-in-process.ts'

const W = { name: 'w', url: null, speaks: 'extension' } as const

/** The system's, with time that passes at a test's word. */
function skipping(): Clock & { skip(ms: number): void } {
  let skippedMs = 0
  return {
    ...systemClock,
    monoMs: () => systemClock.monoMs() + skippedMs,
    wallMs: () => systemClock.wallMs() + skippedMs,
    skip: (ms) => void (skippedMs += ms),
  }
}

test('a worker that was started again is asked for its task, also when it announces itself before that', async () => {
  const clock = skipping()
  const room = openRoom({ clock })
  await takeAnnounce(room, W, announceOf('w', { instance_id: 'i1' }))
  let looks = 0
  const peer: Peer = {
    send: async () => ({ kind: 'working', remoteId: 'r' }),
    async follow(_id, { task }) {
      looks += 1
      if (looks > 1)
        return { kind: 'ended', remoteId: 'r', result: resultOf({ task_id: task.task_id, attempt: 1, status: 'done' }) }
      // It works for a while, is killed, and comes again between the look that found nobody and the next.
      clock.skip(10_000)
      await takeAnnounce(room, W, announceOf('w', { instance_id: 'i2' }))
      return { kind: 'refused', why: 'nobody listens there' }
    },
    answer: async () => ({ kind: 'silent', why: '' }),
    cancel: async () => undefined,
    pull: async () => undefined,
  }
  const orchestrator = new Orchestrator({
    room,
    peers: () => new Map([['w', { peer, url: '' }]]),
    note: () => undefined,
  })
  const running = orchestrator.run()
  await sendTask(room, { contract: contractOf('T'), title: 'T' })
  await until('its end', () => !['queued', 'in_progress'].includes(showTask(room, 'T').task.state))
  expect(showTask(room, 'T')).toMatchObject({ task: { state: 'done' }, attempts: [{ state: 'done' }] })
  orchestrator.stop()
  await running
})

test('what a worker said to be busy with counts as long as its lease does', async () => {
  const clock = skipping()
  const room = openRoom({ clock })
  const session = { context_id: '', active_tasks: 1, repo_state: { branch: null, clean: true }, session_fresh: true }
  await takeAnnounce(room, W, announceOf('w', { session, state: 'busy' }))
  const active = (): number | undefined => room.store.read((rows) => candidates(rows, room.now()))[0]?.active
  expect(active()).toBe(1)
  clock.skip(60_000)
  expect(active()).toBe(0)
})
