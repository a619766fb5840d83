// A session that ends while it waits was not answered: neither its record nor the page says so, and nothing counts it.
import { expect, test } from 'vitest'
import { waitsReply } from '../../src/hub/contract.ts'
import { spine } from '../spine/spine.ts'
import { startHub } from '../support/hub.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

/** Clears its question away when it is ended, as programs with a screen of their own do. */
const TIDY = `trap 'printf "\\033[2J\\033[Hbye\\n\\033]7501;state=idle\\033\\\\"; sleep 0.3; exit 0' TERM; read -p 'Keep it? [y/N] ' x`
const BY_ITSELF = `(until [ -e go ]; do sleep 0.1; done; kill -KILL $$) & read -p 'Still there? [y/N] ' x`
const PLAIN = "read -p 'Go on? [y/N] ' x; echo $x"

test('killed while it waited, ended by itself, answered: each is said, and only the last is counted', async () => {
  const at = spine()
  const runs = new Map<string, string>()
  for (const [agent, script] of [
    ['amber-otter', PLAIN],
    ['tidy-tern', TIDY],
    ['brisk-heron', `${PLAIN}; sleep 60`],
    ['late-lark', BY_ITSELF],
  ] as const)
    runs.set(agent, String((await at.detached(agent, ['bash', '-c', script]))['run_id']))
  const hasWait = (agent: string): boolean => ofType(at.events(runs.get(agent) ?? ''), 'wait_start').length > 0
  await until('all to wait', () => [...runs.keys()].every(hasWait))
  await at.run('hm', ['kill', 'amber-otter'])
  await at.run('hm', ['kill', 'tidy-tern'])
  await at.run('hm', ['send', 'brisk-heron', 'y\n'])
  at.write('go', '')
  const endOf = (agent: string): Promise<Json> =>
    until(`the wait of ${agent} to be over`, () => ofType(at.events(runs.get(agent) ?? ''), 'wait_end')[0])
  const killed = {
    answer: 'the session was killed',
    answered_by: null,
    ended_by: expect.stringContaining('hm kill by '),
  }
  expect(await endOf('amber-otter')).toMatchObject({ wait: killed })
  expect(await endOf('tidy-tern')).toMatchObject({ wait: killed })
  expect(await endOf('late-lark')).toMatchObject({ wait: { answer: 'the session ended', answered_by: null } })
  expect(await endOf('brisk-heron')).toMatchObject({ wait: { answer: 'somebody typed' } })

  // Who ended it on purpose sees no fault.
  const stateOf = async (agent: string): Promise<Json | undefined> =>
    ((await at.json(['status']))['agents'] as Json[]).find(({ agent_id: id }) => id === agent)
  expect(await stateOf('amber-otter')).toMatchObject({ state: 'cancelled', is_over: true, exit_code: 143 })

  const browser = await (await startHub(at)).browser()
  const told = await until('all of them to be told', async () => {
    const reply = waitsReply.parse(await browser.get('/api/waits'))
    return reply.answered.length === 4 ? reply : undefined
  })
  const outcomes = Object.fromEntries(told.answered.map(({ agent_id: id, outcome }) => [id, outcome]))
  expect(outcomes).toEqual({
    'amber-otter': expect.stringMatching(/^Killed before an answer: hm kill by \S+$/),
    'tidy-tern': expect.stringMatching(/^Killed before an answer: hm kill by \S+$/),
    'brisk-heron': expect.stringMatching(/^Answered in its terminal, by /),
    'late-lark': 'Ended before an answer',
  })
  expect(told.answered_count).toBe(1)
})
