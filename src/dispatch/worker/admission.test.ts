import { expect, test } from 'vitest'
import { type Announce, parseAnnounce, parseDispatch } from '../messages.ts'
import { refusalOf } from './admission.ts'
import { byOwnClock } from './clock-skew.ts'

const NOW = Date.parse('2026-05-31T20:00:00Z')

const profile = (more: Partial<Announce> = {}): Announce => ({
  ...parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: 'w', model: '', model_tier: 'sonnet', context_window: 100 },
    capabilities: { tools: ['terminal'], mcp_servers: ['a', 'slow', 'dead'] },
    mcp_health: { a: 'ok', slow: 'timeout', dead: 'failed' },
    session: { context_id: '', active_tasks: 0, repo_state: { branch: 'main', clean: false }, session_fresh: true },
  }),
  ...more,
})

const contract = (more: object = {}) =>
  parseDispatch({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: 'T' },
    requirements: { writes: false },
    brief: 'do it',
    ...more,
  })

const RUNNING = [{ dispatch_id: 'T-0', attempt: 1, a2a_task_id: 'x', since: '' }]

test.each([
  ['nothing is asked for', {}, {}, undefined],
  ['a server is there and answers', { requirements: { required_mcp: ['a'], writes: false } }, {}, undefined],
  [
    'a server is not known',
    { requirements: { required_mcp: ['b'] } },
    {},
    ['mcp_unavailable', 'capability', ['b'], /b \(not there\)/],
  ],
  [
    'a server has failed',
    { requirements: { required_mcp: ['dead'] } },
    {},
    ['mcp_unavailable', 'capability', ['dead'], /dead \(failed\)/],
  ],
  [
    'a server is slow',
    { requirements: { required_mcp: ['a', 'slow'] } },
    {},
    ['mcp_timeout', 'transient', ['slow'], /slow \(timeout\)/],
  ],
  [
    'a capability is missing',
    { requirements: { required_capabilities: ['terminal', 'browser'] } },
    {},
    ['tool_missing', 'capability', ['browser'], /browser/],
  ],
  [
    'the tier is too low',
    { requirements: { min_model_tier: 'opus' } },
    {},
    ['model_tier', 'capability', ['opus'], /sonnet/],
  ],
  [
    'a tier that nobody knows is above all',
    { requirements: { min_model_tier: 'colossus' } },
    {},
    ['model_tier', 'capability', ['opus'], /sonnet/],
  ],
  ['the brief does not fit', { brief: 'x'.repeat(400) }, {}, ['context_too_small', 'capability', [], /134 tokens/]],
  ['the tree is dirty', { requirements: {} }, {}, ['repo_dirty', 'workspace', [], /uncommitted/]],
  ['the tree is dirty, in worktrees', { requirements: {} }, { worktrees: true }, undefined],
  [
    'the tree is dirty by a task of its own',
    { requirements: {} },
    { running: RUNNING },
    ['repo_locked', 'transient', [], /task that runs here/],
  ],
  [
    'the deadline has passed',
    { deadline: '2026-05-31T19:59:59Z' },
    {},
    ['deadline_impossible', 'policy', [], /passed/],
  ],
  [
    'the budget is zero',
    { task: { task_id: 'T', token_budget: 0 } },
    {},
    ['budget_too_small', 'policy', [], /0 tokens/],
  ],
] as const)('at receipt: %s', (_what, asked, of, expected) => {
  const refusal = refusalOf(contract(asked), profile(of), NOW)
  if (expected === undefined) return expect(refusal).toBeUndefined()
  const [code, kind, missing, reason] = expected
  expect(refusal?.blocked).toMatchObject({ code, class: kind, missing })
  expect(refusal?.reason).toMatch(reason)
})

test('a deadline is as far away here as it was at its sender, whatever our clock says', () => {
  const asked = contract({ deadline: '2026-05-31T20:30:00Z', sent_at: '2026-05-31T20:00:00Z' })
  // Two hours ahead: by its own clock the deadline would have passed.
  const ahead = NOW + 2 * 3_600_000
  expect(refusalOf(asked, profile(), ahead)?.blocked.code).toBe('deadline_impossible')
  const shifted = byOwnClock(asked, ahead)
  expect(shifted.deadline).toBe('2026-05-31T22:30:00.000Z')
  expect(refusalOf(shifted, profile(), ahead)).toBeUndefined()
  // A message on its way is no skew, and without a time of sending there is nothing to compare.
  expect(byOwnClock(asked, NOW + 1_000)).toBe(asked)
  expect(byOwnClock(contract({ deadline: '2026-05-31T20:30:00Z' }), ahead).deadline).toBe('2026-05-31T20:30:00Z')
})
