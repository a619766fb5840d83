// What facts make of a fleet: who waits, on what evidence, what counts and in which order.
import { expect, test } from 'vitest'
import type { Project } from '../../paths.ts'
import { NO_POLICY_NAMES } from '../../policy/bundle/no-policy.ts'
import type { KeptRun } from '../kept-run.ts'
import type { Pulse } from '../pulse.ts'
import { NO_CALLS } from '../call-totals.ts'
import type { FleetFacts, RunFact } from './facts.ts'
import { type KnownAgent, NOBODY_KNOWN } from './known-agents.ts'
import { fleetOf } from './picture.ts'
import { kindOf } from './wait-kind.ts'

const NOW = Date.parse('2026-11-01T14:32:08Z')
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString()
const project: Project = {
  root: '/home/ana/parcelworks',
  gitCommonDir: '/home/ana/parcelworks/.git',
  planningDir: '/home/ana/parcelworks/.planning',
  coordinationDir: '/home/ana/parcelworks/.git/heimdall',
}

const pulse = (more: Partial<Pulse> = {}): Pulse => ({
  state: 'active',
  state_since: ago(1),
  title: '',
  works: null,
  active_at: ago(0),
  busy_since: ago(20),
  usual_silence_ms: null,
  calls: NO_CALLS,
  loop: null,
  budget: null,
  offset: 0,
  ...more,
})

const run = (agent: string, more: Partial<KeptRun> = {}, approvals: RunFact['approvals'] = []): RunFact => ({
  run: {
    v: 1,
    identity: { run_id: `run-${agent}`, agent_id: agent, client: 'claude', env: 'dev' } as KeptRun['identity'],
    folder: `run-${agent}`,
    start: {
      started_at: ago(60),
      mode: 'control',
      policy: { policy_id: 'team', policy_version: '1', policy_hash: 'x' },
    },
    agent: { agent_id: agent, haid: `haid:a.b/${agent}`, epoch: 1 },
    project,
    cwd: project.root,
    session: { dir: '/s', id: agent, supervisor: { pid: 1, startTicks: 1, boot: 'b' } },
    worktree: null,
    wait: null,
    waits: { count: 0, ms: 0 },
    pulse: pulse(),
    ...more,
  },
  lost: undefined,
  exit: undefined,
  approvals,
  asked: undefined,
})

const wait = (evidence: string | null, minutes: number, source = 'osc') => ({
  wait: { wait_id: `w-${minutes}`, started_at: ago(minutes), source, evidence },
})

const agent = (id: string, more: Partial<KnownAgent> = {}): KnownAgent => ({
  agent_id: id,
  haid: `haid:a.b/${id}`,
  role: 'agent',
  client: 'codex',
  epoch: 1,
  liveness: 'active',
  isOver: false,
  isRemote: false,
  machine: null,
  sessionThere: null,
  startedMs: NOW - 3_600_000,
  endedMs: null,
  outcome: undefined,
  silentMs: 1_000,
  lastSeenMs: NOW - 1_000,
  task: null,
  claims: [],
  queue: [],
  spent: null,
  wait: null,
  ...more,
})

const fleet = (facts: Partial<FleetFacts>) =>
  fleetOf({
    project,
    nowMs: NOW,
    known: NOBODY_KNOWN,
    runs: [],
    sessions: [],
    guards: undefined,
    approvals: [],
    tools: [],
    endings: new Map(),
    tokens: new Map(),
    tokensInAll: null,
    snoozed: new Map(),
    missing: [],
    ...facts,
  })

test.each([
  ['OSC 7501: permission: npm run db:migrate', 'permission'],
  ['permission for Bash', 'permission'],
  ['Do you want to proceed?', 'question'],
  ['Proceed? [y/N]', 'question'],
  ['Allow this edit?', 'permission'],
  ['OSC 133: shell prompt', 'needs input'],
  ['Password:', 'needs input'],
  [null, 'needs input'],
])('%s asks for: %s', (evidence, kind) => {
  expect(kindOf(evidence)).toBe(kind)
})

test('waits of every source are one list, oldest first, each with its evidence and the command that answers it', () => {
  const { waits, counts } = fleet({
    runs: [
      run('amber-otter', wait('OSC 7501: question: keep /v1/refresh?', 9)),
      run('cobalt-harbor', {}, [
        {
          id: '0123456789abcdef',
          question: 'may it migrate?',
          server_name: 'db',
          tool_name: 'migrate',
          args_preview: '--env staging\ncommand: --env staging',
          asked_at: ago(14),
          rule_id: 'ask-migrate',
        } as RunFact['approvals'][number],
      ]),
      run('moss-plover', {
        pulse: pulse({ near: { rule_id: 'few', counter: 'calls', used: 486, limit: 500, since: ago(2) } }),
      }),
      run('rust-marten', {
        pulse: pulse({ budget: { rule_id: 'b', summary: 'the budget b is used up', since: ago(3), refusals: 4 } }),
      }),
    ],
    known: {
      agents: [],
      notes: [
        {
          message_id: 'msg_0412',
          category: 'BLOCKED',
          from: 'slate-heron',
          to: 'lead',
          subject: 'DHL sandbox key expired',
          action: 'send a new one',
          urgency: 'high',
          since: ago(7),
          why: 'slate-heron is blocked',
        },
      ],
      collisions: [
        {
          id: 'c.teal-badger',
          claim_id: 'c',
          wanted: 'src/billing/invoice.ts',
          wanted_by: 'teal-badger',
          held: 'src/billing/**',
          held_by: 'ivory-lynx',
          holder_liveness: 'active',
          expires_at: ago(-21),
          attempts: 3,
          since: ago(4),
          place: 1,
        },
      ],
      tasks: [],
    },
    tools: [{ server_name: 'github', since: ago(1), changed: ['create_pull_request'], added: [] }],
  })
  expect(waits.map(({ kind, agent_id: who, asks }) => [kind, who, asks])).toEqual([
    ['permission', 'cobalt-harbor', 'db migrate --env staging: may it migrate?'],
    ['question', 'amber-otter', 'keep /v1/refresh?'],
    ['needs input', 'slate-heron', 'DHL sandbox key expired: send a new one'],
    ['collision', 'teal-badger', 'wants src/billing/invoice.ts, ivory-lynx holds src/billing/**'],
    ['budget', 'rust-marten', 'the budget b is used up, 4 refused'],
    ['budget', 'moss-plover', '486 of 500 calls used'],
    ['tool changed', null, 'github create_pull_request, its definition differs'],
  ])
  expect(waits.map(({ answers }) => answers[0]?.command)).toEqual([
    'heimdall approve 0123456789abcdef',
    'hm attach amber-otter',
    'heimdall note ack msg_0412 --human',
    'heimdall why src/billing/invoice.ts',
    'hm attach rust-marten',
    'hm attach moss-plover',
    'heimdall mcp pins show github',
  ])
  expect(counts.waiting).toBe(7)
})

test('a question of policy is one wait, though its session was told of it too', () => {
  const told = wait('may it? (heimdall approve 0123456789abcdef)', 2, 'hook')
  const request = {
    id: '0123456789abcdef',
    question: 'may it?',
    args_preview: '',
    asked_at: ago(2),
  } as RunFact['approvals'][number]
  expect(fleet({ runs: [run('amber-otter', told, [request])] }).waits).toHaveLength(1)
  // Nobody asks any more under that id: it is answered, and the shim has not taken its word back yet.
  const budget = { rule_id: 'b', summary: 'the budget b is used up', refusals: 4, since: ago(1) }
  const { waits, agents } = fleet({
    runs: [run('amber-otter', told), run('rust-marten', { pulse: pulse({ budget }) })],
  })
  expect(waits).toMatchObject([{ kind: 'budget', agent_id: 'rust-marten' }])
  expect(agents.map(({ agent_id: id, state }) => [id, state])).toEqual([
    ['rust-marten', 'needs you'],
    ['amber-otter', 'working'],
  ])
})

test('a question of policy in a host that the user started is a wait, once', () => {
  const request = {
    id: '0123456789abcdef',
    run_id: 'r',
    agent_id: 'unknown',
    server_name: 'db',
    tool_name: 'migrate',
    args_preview: 'staging\nenv: staging',
    question: 'may it?',
    asked_at: ago(2),
  } as RunFact['approvals'][number]
  const tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0 }
  const spent = { run_id: 'r', total: { tokens, usd: 0, unpriced: [] } } as unknown as KnownAgent['spent']
  const known = { ...NOBODY_KNOWN, agents: [agent('amber-otter', { spent })] }
  expect(fleet({ approvals: [request], known }).waits).toMatchObject([
    { agent_id: 'amber-otter', asks: 'db migrate staging: may it?', detail: 'db migrate staging\nenv: staging' },
  ])
  const session = {
    id: 'plain',
    state: 'waiting',
    command: ['claude'],
    started_at: ago(9),
    idle_ms: 0,
    title: '',
    state_ms: 0,
    needs_input: { value: true, source: 'hook', evidence: 'may it? (heimdall approve 0123456789abcdef)' },
  } as unknown as FleetFacts['sessions'][number]
  expect(fleet({ approvals: [request], sessions: [session] }).waits).toMatchObject([
    { kind: 'permission', session_id: 'plain' },
  ])
})

test('a task that waits for a person is a wait; where its session says so itself, it stands in the list once', () => {
  const task = { worker: 'stock', since: ago(3), run_id: null }
  const { waits } = fleet({
    runs: [run('amber-otter', wait('OSC 7501: question: which?', 2, 'osc'))],
    known: {
      ...NOBODY_KNOWN,
      tasks: [
        { ...task, task_id: 'T-1', asks: 'which branch?', kind: 'input' },
        { ...task, task_id: 'T-2', asks: 'may it push?', kind: 'auth' },
        { ...task, task_id: 'T-3', asks: 'no worker has a workspace', kind: 'triage' },
        { ...task, task_id: 'T-4', asks: 'which?', kind: 'input', run_id: run('amber-otter').run.identity.run_id },
      ],
    },
  })
  expect(waits.map(({ kind, asks, answers }) => [kind, asks, answers[0]?.command])).toEqual([
    ['question', 'T-1: which branch?', 'heimdall task answer T-1'],
    ['permission', 'T-2: may it push?', 'heimdall task show T-2'],
    ['needs input', 'T-3: no worker has a workspace', 'heimdall task retry T-3'],
    ['question', 'which?', 'hm attach amber-otter'],
  ])
})

test('a tool that changed is the wait of the agent whose session was told', () => {
  const told = wait('git has tools to be approved (heimdall mcp pins show git)', 2, 'hook')
  const tools = [{ server_name: 'git', since: ago(2), changed: ['push'], added: ['pull'] }]
  const { waits, agents } = fleet({ runs: [run('pearl-gannet', told)], tools })
  expect(waits).toMatchObject([{ kind: 'tool changed', agent_id: 'pearl-gannet' }])
  expect(agents).toMatchObject([{ state: 'needs you', wait_id: 'pins.git' }])
})

test('a snoozed wait is listed last, is not counted, and counts again when its time is over', () => {
  const runs = [run('amber-otter', wait('a?', 9)), run('teal-badger', wait('b?', 2))]
  const put = fleet({ runs, snoozed: new Map([['w-9', NOW + 60_000]]) })
  expect(put.waits.map(({ id, snoozed_until: until }) => [id, until])).toEqual([
    ['w-2', null],
    ['w-9', new Date(NOW + 60_000).toISOString()],
  ])
  expect(put.counts.waiting).toBe(1)
  expect(put.agents.find(({ agent_id: id }) => id === 'amber-otter')?.state).toBe('working')
  expect(fleet({ runs, snoozed: new Map([['w-9', NOW]]) }).counts.waiting).toBe(2)
})

test('states and their evidence: loop before stuck before stale before what the session does', () => {
  const loop = { what: 'call' as const, name: 'db query', count: 9, first_at: ago(5), last_at: ago(1) }
  const works = { source: 'osc', evidence: 'OSC 7501: working' }
  const { agents } = fleet({
    known: { ...NOBODY_KNOWN, agents: [agent('birch-puffin', { liveness: 'stale', silentMs: 17 * 60_000 })] },
    runs: [
      run('plum-weasel', { pulse: pulse({ loop }) }),
      run('moss-plover', { pulse: pulse({ works, active_at: ago(20), usual_silence_ms: 60_000 }) }),
      run('birch-puffin'),
      run('ivory-lynx', { pulse: pulse({ works }) }),
      run('olive-stoat'),
      run('dusk-swift', { pulse: pulse({ state: 'idle', active_at: ago(6) }) }),
      run('new-one', { pulse: undefined as never }),
    ],
  })
  const shown = agents.map(({ agent_id: id, state, evidence }) => [id, state, evidence.source, evidence.seen])
  expect(shown).toEqual([
    ['plum-weasel', 'looping', 'record', 'same call 9 times in 4 min: db query'],
    ['moss-plover', 'stuck', 'osc', 'OSC 7501: working, silent for 20 min, usually at most 1 min'],
    ['birch-puffin', 'stale', 'heartbeat', 'silent for 17 min'],
    ['new-one', 'working', 'run', 'just started'],
    ['ivory-lynx', 'working', 'osc', 'OSC 7501: working'],
    ['olive-stoat', 'working', 'output', 'the session is active'],
    ['dusk-swift', 'idle', 'output', 'silent for 6 min'],
  ])
})

test('who is over is done or failed by its exit, and stale as long as it holds something', () => {
  const over = { isOver: true, liveness: 'evicted' as const, endedMs: NOW - 60_000 }
  const claims = [
    {
      claim_id: 'c',
      scopes: ['src/notify/**'],
      epoch: 1,
      task: null,
      intent: null,
      origin: 'local' as const,
      since: ago(9),
      expires_at: ago(1),
      lease: 'lapsed' as const,
    },
  ]
  const exit = (code: number) => ({ exit_code: code, reason: 'exit', ended_at: ago(1), started_at: ago(5) }) as never
  const killed = (by: string) =>
    ({ exit_code: 143, reason: 'kill', ended_by: by, ended_at: ago(1), started_at: ago(5) }) as never
  const { agents, counts } = fleet({
    known: {
      ...NOBODY_KNOWN,
      agents: [
        agent('onyx-raven', over),
        agent('fern-shrew', over),
        agent('gone-record', { ...over, outcome: { status: 'FAILED', exit_code: 9 } }),
        agent('left-claims', { ...over, claims }),
        agent('killed-kite', over),
        agent('killed-elsewhere', { ...over, outcome: { status: 'CANCELLED', exit_code: 143 } }),
        agent('stopped-stoat', over),
      ],
    },
    endings: new Map([
      ['haid:a.b/killed-kite', killed('hm kill by ana (process 17)')],
      ['haid:a.b/stopped-stoat', killed('TERMINATE_RUN by ana (process 17)')],
      ['haid:a.b/onyx-raven', exit(0)],
      ['haid:a.b/fern-shrew', exit(1)],
    ]),
  })
  expect(agents.map(({ agent_id: id, state, evidence }) => [id, state, evidence.seen])).toEqual([
    ['left-claims', 'stale', 'its session is over, holds src/notify/** (evicted)'],
    ['onyx-raven', 'done', 'exit 0'],
    ['killed-elsewhere', 'cancelled', 'somebody ended the run, exit 143'],
    ['killed-kite', 'cancelled', 'ended: hm kill by ana, exit 143'],
    ['fern-shrew', 'failed', 'exit 1'],
    ['gone-record', 'failed', 'the run FAILED, exit 9'],
    ['stopped-stoat', 'failed', 'exit 143, kill'],
  ])
  expect(counts).toMatchObject({ done: 1, cancelled: 2, failed: 3, stale: 1, agents: 7 })
})

test('a run that has just ended is what its session says, whoever has not closed it yet', () => {
  const exit = { exit_code: 0, reason: 'exit', ended_at: ago(0), started_at: ago(5) } as never
  const { agents } = fleet({
    runs: [
      { ...run('just-ended'), lost: [], exit },
      { ...run('killed'), lost: [] },
      { ...run('orphaned', wait('title: asks', 2)), lost: [4711] },
    ],
  })
  expect(agents.map(({ agent_id: id, state, is_over: isOver }) => [id, state, isOver])).toEqual([
    ['killed', 'lost', true],
    ['orphaned', 'lost', false],
    ['just-ended', 'done', true],
  ])
})

test('one name is one agent, in whatever places it is found', () => {
  const session = (id: string) => ({
    id,
    dir: '/s',
    cwd: project.root,
    command: ['claude'],
    started_at: ago(5),
    state: 'active',
    state_ms: 1_000,
    needs_input: { value: false, source: 'none', evidence: null },
    title: '',
    idle_ms: 0,
    last_line: `it is ${id}`,
  })
  const task = { id: 'T-1', title: 'Rotate refresh tokens' }
  const { agents, counts } = fleet({
    runs: [run('amber-otter')],
    known: {
      ...NOBODY_KNOWN,
      agents: [
        // Another has taken the name over while the run of the first goes on.
        agent('amber-otter', { epoch: 2 }),
        agent('grey-heron', { task }),
        agent('onyx-raven', { isOver: true, task }),
      ],
    },
    sessions: [session('grey-heron'), session('onyx-raven'), session('lone-session')],
  })
  const shown = new Map(agents.map(({ agent_id: id, session_id: of, haid, task: at }) => [id, [of, haid, at?.id]]))
  expect(Object.fromEntries(shown)).toEqual({
    'amber-otter': ['amber-otter', 'haid:a.b/amber-otter', undefined],
    'grey-heron': ['grey-heron', 'haid:a.b/grey-heron', 'T-1'],
    'lone-session': ['lone-session', null, undefined],
    'onyx-raven': ['onyx-raven', null, undefined],
  })
  expect(counts.agents).toBe(4)
})

test('time spent waiting for a person counts the wait that is open', () => {
  const { agents } = fleet({ runs: [run('amber-otter', { ...wait('a?', 2), waits: { count: 3, ms: 60_000 } })] })
  expect(agents[0]?.waited).toEqual({ count: 4, ms: 180_000 })
})

test('nothing that a program says reaches a terminal as more than one plain line', () => {
  const evil = `\u001b]0;x\u0007\u001b[2J\n\u202eevil\u0000 ${'a'.repeat(500)}?`
  const {
    waits,
    agents,
    project: shown,
  } = fleet({
    runs: [run('amber-otter', wait(evil, 1))],
    project: { ...project, gitCommonDir: undefined, root: `/home/${evil}` },
  })
  for (const text of [waits[0]?.asks, waits[0]?.evidence.seen, agents[0]?.evidence.seen, shown.name]) {
    expect(text).toMatch(/^[^\p{Cc}\p{Cf}]{1,200}$/u)
  }
})

test('a policy is named with those whose runs it governs, and no policy is none', () => {
  const governed = run('amber-otter')
  const none = run('grey-heron')
  const { policy_id, version: policy_version, mode, policy_hash } = NO_POLICY_NAMES
  const start = { ...none.run.start, mode, policy: { policy_id, policy_version, policy_hash } }
  const free = { ...none, run: { ...none.run, start } }
  expect(fleet({ runs: [free, governed, run('onyx-raven')] }).policies).toEqual([
    { policy_id: 'team', version: '1', mode: 'control', agents: ['amber-otter', 'onyx-raven'] },
  ])
})
