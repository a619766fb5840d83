// Whoever is an agent does not become another by ending it and starting a run under its name, and removes no logs of sessions.
import { expect, test } from 'vitest'
import { hm } from '../hm/hm.ts'
import { spine } from '../spine/spine.ts'
import { shellIn } from '../support/shell.ts'
import { until } from '../support/wait.ts'

test('a name that has become free is another agent’s all the same; what an agent has started it starts again', async () => {
  const at = spine()
  await at.detached('victim-a', ['sleep', '600'])
  const evil = await shellIn(hm(), at, 'evil')
  expect(await evil.run('hm kill --wait victim-a')).toMatchObject({ code: 0 })
  await until('the run to be closed', () => at.sheets().length === 0)
  const own = await evil.whoami()
  for (const how of ['', 'env -u HEIMDALL_SESSION_ID -u HEIMDALL_SESSION_KEY ', 'BB_AGENT=victim-a ', 'setsid -w ']) {
    const taken = await evil.run(`${how}heimdall run --agent victim-a --detach -- true`)
    expect([how, taken]).toMatchObject([how, { code: 4 }])
    expect(taken.text).toMatch(/haid:\S+ may not (?:go on|act) as victim-a/)
  }
  expect(await at.json(['run', '--agent', 'victim-a', '--detach', '--', 'true'])).toMatchObject({
    agent_id: 'victim-a',
  })

  for (let round = 0; round < 2; round += 1) {
    expect(await evil.run('heimdall run --agent its-own --detach -- true')).toMatchObject({ code: 0 })
    await until('its run to be closed', () => at.sheets().length === 0)
  }
  const history = at.read('.planning/ledger/events.jsonl')
  expect(history.match(new RegExp(`"started_by":"${own.haid}"`, 'g'))).toHaveLength(2)
})

test('logs of ended sessions are not an agent’s to remove', async () => {
  const at = spine()
  const sessions = hm()
  await sessions.run(['run', '--id', 'nightly', '--', 'echo', 'said'])
  const evil = await shellIn(sessions, at, 'evil')
  const { text, code } = await evil.run(`hm clean --force --older-than 0s --socket-dir ${sessions.dir}`)
  expect(code).not.toBe(0)
  expect(text).toContain('removing what ended sessions have left is for a person')
  expect((await sessions.run(['logs', 'nightly'])).stdout).toContain('said')
  expect((await sessions.run(['clean', '--force', '--older-than', '0s'])).code).toBe(0)
})
