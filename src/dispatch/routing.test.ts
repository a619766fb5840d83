import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAnnounce } from './messages.ts'
import { needsOf, type Needs } from './needs.ts'
import { dueMs } from './queue.ts'
import { type Candidate, choose, route } from './routing.ts'

const NEEDS: Needs = needsOf(
  { requirements: { required_mcp: [], required_capabilities: [], min_model_tier: null, writes: true, repository: [] } },
  { briefTokens: 100, not: [], only: null },
)

interface Facts {
  readonly tier?: string
  readonly tools?: string[]
  readonly health?: Record<string, string>
  readonly window?: number
  readonly clean?: boolean
  readonly worktrees?: boolean
  readonly slots?: number
  readonly repository?: string[]
}

const worker = (workerId: string, facts: Facts = {}, more: Partial<Candidate> = {}): Candidate => ({
  workerId,
  speaks: 'extension',
  state: 'ready',
  active: 0,
  near: 0,
  profile: parseAnnounce({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: workerId, model: '', model_tier: facts.tier ?? 'sonnet', context_window: facts.window ?? 0 },
    capabilities: { tools: facts.tools ?? ['terminal'], mcp_servers: Object.keys(facts.health ?? {}) },
    mcp_health: facts.health ?? {},
    session: {
      context_id: '',
      active_tasks: 0,
      repo_state: { branch: 'main', clean: facts.clean ?? true },
      session_fresh: true,
    },
    worktrees: facts.worktrees ?? true,
    max_concurrent: facts.slots ?? 2,
    repository: facts.repository ?? [],
  }),
  ...more,
})

test.each<[string, Partial<Needs>, Candidate]>([
  ['mcp_unknown', { mcp: ['trek'] }, worker('w')],
  ['mcp_unavailable', { mcp: ['trek'] }, worker('w', { health: { trek: 'timeout' } })],
  ['mcp_unavailable', { mcp: ['trek'] }, worker('w', { health: { trek: 'whatever' } })],
  ['tool_missing', { tools: ['browser'] }, worker('w')],
  ['model_tier', { tier: 'opus' }, worker('w')],
  ['model_tier', { tier: 'haiku' }, worker('w', { tier: 'gpt' })],
  ['context_too_small', { window: 4096 }, worker('w', { window: 4000 })],
  ['repo_dirty', {}, worker('w', { clean: false, worktrees: false })],
  ['repository', { repository: ['here'] }, worker('w')],
  ['repository', { repository: ['here'] }, worker('w', { repository: ['there'] })],
  ['max_concurrent', {}, worker('w', {}, { active: 2 })],
  ['draining', {}, worker('w', {}, { state: 'draining' })],
  ['gone', {}, worker('w', {}, { state: 'gone' })],
  ['tried', { not: ['w'] }, worker('w')],
  ['not_named', { only: 'other' }, worker('w')],
  ['plain', { tools: ['terminal'] }, worker('w', {}, { speaks: 'plain' })],
])('seed 003: a worker is left out, and why is said: %s', (code, needs, candidate) => {
  const { chosen, verdicts } = route({ ...NEEDS, ...needs }, [candidate])
  expect([chosen, verdicts[0]?.score]).toEqual([undefined, null])
  expect(verdicts[0]?.lacks.map((lack) => lack.code)).toContain(code)
})

test('a dirty tree is in nobody’s way where write tasks get a worktree, nor in that of a task that only reads', () => {
  expect(choose(NEEDS, [worker('w', { clean: false })])).toBe('w')
  expect(choose({ ...NEEDS, writes: false }, [worker('w', { clean: false, worktrees: false })])).toBe('w')
})

test('of those that can: the cheapest tier, then whoever is near, then the least loaded', () => {
  const all = [
    worker('opus', { tier: 'opus' }),
    worker('busy', {}, { active: 1 }),
    worker('idle'),
    worker('near', {}, { active: 1, near: 1 }),
    worker('haiku', { tier: 'haiku' }, { active: 1 }),
  ]
  expect(route(NEEDS, all).verdicts.map(({ workerId }) => workerId)).toEqual(['haiku', 'near', 'idle', 'busy', 'opus'])
  expect(choose({ ...NEEDS, tier: 'sonnet' }, all)).toBe('near')
})

test('what is chosen in short is what is chosen with reasons', () => {
  const some = fc.record({
    tier: fc.constantFrom('haiku', 'sonnet', 'opus', 'other'),
    tools: fc.subarray(['terminal', 'browser']),
    health: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('ok', 'timeout')),
    slots: fc.integer({ min: 1, max: 3 }),
    clean: fc.boolean(),
    worktrees: fc.boolean(),
  })
  const needs = fc.record({
    mcp: fc.subarray(['a', 'b']),
    tools: fc.subarray(['terminal', 'browser']),
    tier: fc.constantFrom(null, 'haiku' as const, 'sonnet' as const, 'opus' as const),
    writes: fc.boolean(),
  })
  fc.assert(
    fc.property(needs, fc.array(fc.tuple(some, fc.nat(3), fc.nat(1)), { maxLength: 8 }), (wanted, workers) => {
      const all = workers.map(([facts, active, near], i) => worker(`w${i}`, facts, { active, near }))
      expect(choose({ ...NEEDS, ...wanted }, all)).toBe(route({ ...NEEDS, ...wanted }, all).chosen)
    }),
  )
})

test('nothing starves: whoever has waited for the patience of its priority goes before what comes after', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('urgent' as const, 'high' as const, 'normal' as const, 'low' as const),
      fc.nat(10_000_000),
      (priority, sentMs) => {
        const due = dueMs({ priority, deadlineMs: null, sentMs })
        expect(due).toBeLessThanOrEqual(dueMs({ priority: 'urgent', deadlineMs: null, sentMs: sentMs + 3_600_000 }))
        expect(dueMs({ priority, deadlineMs: sentMs + 1_000, sentMs })).toBeLessThanOrEqual(Math.min(due, sentMs + 500))
      },
    ),
  )
})
