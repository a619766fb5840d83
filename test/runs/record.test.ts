// The record of a run under several writers: numbers, checkpoints and repair, whatever is done to the files between two writes.
import fs, { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { decisionBody, decisionEvent, EventText } from '../../src/events/event-text.ts'
import { PREVIEW_NONE } from '../../src/events/preview.ts'
import { checkpointPath } from '../../src/runs/checkpoint.ts'
import { startOf } from '../../src/runs/process-start.ts'
import { joinRun, type Record as EventRecord } from '../../src/runs/record.ts'
import { closeAbandonedRuns, openMark } from '../../src/runs/run-close.ts'
import { openRun } from '../../src/runs/open-run.ts'
import { recordPath, RunLog } from '../../src/runs/run-log.ts'
import type { RunIdentity, RunStart, RunStatus } from '../../src/events/types.ts'
import { ABANDONED_RUNS_MAX, RECORD_TAIL_BYTES } from '../../src/limits.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { temporaryFolder } from '../support/project.ts'
import { scaled } from '../support/scale.ts'
import { checkBooks, type Json, ofType, parseLines } from '../support/shim-client.ts'

const start: RunStart = {
  started_at: '2026-01-02T03:04:05.000Z',
  mode: 'guardrails',
  policy: { policy_id: 'p', policy_version: '1', policy_hash: 'none' },
}
const policy = start.policy
const clock = fakeClock()

function identityOf(runId: string, shimId: string): RunIdentity {
  return {
    run_id: runId,
    agent_id: 'a',
    client: 'custom',
    env: 'dev',
    source: { host_id: 'h', proc_id: shimId, shim_id: shimId },
  }
}

interface Member {
  readonly record: EventRecord
  readonly text: EventText
  readonly name: string
  calls: number
}

async function joinAs(runsDir: string, runId: string, name: string, role: 'shim' | 'owner' = 'shim'): Promise<Member> {
  const identity = identityOf(runId, name)
  const record = await joinRun({ runsDir, folder: runId, identity, start, role, parent: null, quietMs: 0, clock })
  return { record, text: new EventText(identity, () => clock.wallMs()), name, calls: 0 }
}

const ACTIONS = ['ALLOW', 'BLOCK', 'THROTTLE', 'REJECT_WITH_HINT', 'TERMINATE_RUN'] as const
const STATUSES = ['OK', 'ERROR', 'TIMEOUT', 'CANCELLED'] as const

function writeCall(
  member: Member,
  action: (typeof ACTIONS)[number],
  status: (typeof STATUSES)[number],
  enforced: boolean,
): void {
  member.calls += 1
  const names = {
    call_id: `${member.name}-${member.calls}`,
    server_name: member.name,
    tool_name: 'tool "with" \u2028 marks',
    args_hash: '',
  }
  const decision = { action, rule_id: null, severity: 'info', reason_code: 'R', summary: 's', enforced } as const
  const { text, record } = member
  text.callStart(names, { transport: 'mcp_stdio', bytesIn: 1, tags: [] }, PREVIEW_NONE)
  text.decision(decisionBody(names, decisionEvent(decision, policy), { counters: [], mono_ms: 1, boot_id: 'b' }))
  text.callEnd(names, { status, latencyMs: 0, bytesOut: 0 }, PREVIEW_NONE)
  expect(record.write(text.lines)).toBeDefined()
  text.lines.clear()
}

test('a long record without a checkpoint is read ahead in a few steps, and joined', async () => {
  const runsDir = temporaryFolder()
  const runDir = join(runsDir, 'r')
  mkdirSync(runDir, { mode: 0o700 })
  // No line ends where the tail begins.
  const line = `{"type":"other","text":"${'x'.repeat(700_000)}"}\n`
  writeFileSync(recordPath(runDir), line.repeat(Math.ceil((2.3 * RECORD_TAIL_BYTES) / line.length)), { mode: 0o600 })
  const log = new RunLog(runDir)
  let steps = 1
  while (!log.readAhead() && steps < 10) steps += 1
  expect(steps).toBe(2)
  expect(log.bytes).toBeGreaterThan(1.2 * RECORD_TAIL_BYTES)
  log.close()
  const identity = identityOf('r', 'late')
  const joining = { runsDir, folder: 'r', identity, start, role: 'shim', parent: null, quietMs: 0 } as const
  const record = await joinRun({ ...joining, clock: systemClock })
  expect(record.fold.totals.segment).toBe(1)
  record.close()
})

test('a line that is longer than one step of reading ahead is left to the lock', () => {
  const runDir = temporaryFolder()
  writeFileSync(recordPath(runDir), `${'x'.repeat(2.2 * RECORD_TAIL_BYTES)}\n`, { mode: 0o600 })
  const log = new RunLog(runDir)
  expect(log.readAhead()).toBe(true)
  expect(log.locked(() => log.bytes)).toBeGreaterThan(2.2 * RECORD_TAIL_BYTES)
  log.close()
})

test('what was decided before a late events file opens stays decided', async () => {
  const folder = join(temporaryFolder(), 'late')
  const { run_id: _, ...identity } = identityOf('', 's')
  const run = await openRun({
    env: {},
    clock,
    newId: () => 'r',
    identity,
    start,
    events: { path: join(folder, 'events.jsonl') },
    parentPid: process.pid,
    quietMs: 0,
    note: () => undefined,
  })
  const { record, text } = run
  const names = { call_id: 'c', server_name: 's', tool_name: 't', args_hash: '' }
  const decision = {
    action: 'TERMINATE_RUN',
    rule_id: 'stop',
    severity: 'info',
    reason_code: 'R',
    summary: 's',
  } as const
  const key = `budget ${'0'.repeat(20)}`
  const counters = [{ rule_id: 'few', counter: 'calls', limit: 2, key, before: 0, after: 2 }] as const
  const event = decisionEvent({ ...decision, enforced: true }, policy)
  record.fold.count(text.decision(decisionBody(names, event, { counters, mono_ms: 1, boot_id: 'b' })))
  // There was no space for its line.
  text.lines.clear()
  expect(() => record.write(text.lines)).toThrow(/ENOENT/)
  mkdirSync(folder)
  await setImmediate()
  // This attempt opens the file; the next one writes to it.
  expect(() => record.write(text.lines)).toThrow(/ENOENT/)
  await setImmediate()
  expect(record.write(text.lines)).toBeDefined()
  expect(record.fold.terminated).toMatchObject({ rule_id: 'stop' })
  expect(record.fold.get(key, '')?.[0]).toBe(2)
  record.close()
})

test('a look at a quiet run whose host lives does not read its record', async () => {
  const runsDir = temporaryFolder()
  const parent = { pid: process.pid, start: startOf(process.pid) ?? '' }
  const identity = identityOf('r', 's')
  const joining = { runsDir, folder: 'r', identity, start, role: 'shim', parent, quietMs: 1_000, clock } as const
  const record = await joinRun(joining)
  const member: Member = { record, text: new EventText(identity, () => clock.wallMs()), name: 's', calls: 0 }
  for (let n = 0; n < 500; n += 1) writeCall(member, 'ALLOW', 'OK', true)
  record.leave('SUCCEEDED', 0)
  record.close()
  const log = new RunLog(join(runsDir, 'r'))
  log.locked(() => log.checkpoint())
  log.close()
  const read = vi.spyOn(fs, 'readSync')
  onTestFinished(() => read.mockRestore())
  expect(closeAbandonedRuns(runsDir, clock)).toMatchObject({ closed: 0, open: 1 })
  const bytes = read.mock.results.reduce((sum, { value }) => sum + Number(value), 0)
  expect(bytes).toBeLessThan(10_000)
})

test('a member that was taken for dead takes part again from its next event on', async () => {
  const runsDir = temporaryFolder()
  const member = await joinAs(runsDir, 'r', 'a')
  rmSync(join(runsDir, 'r', 'members', 'a'))
  expect(closeAbandonedRuns(runsDir, clock)).toMatchObject({ closed: 1, open: 0 })
  writeCall(member, 'ALLOW', 'OK', true)
  expect(closeAbandonedRuns(runsDir, clock)).toMatchObject({ closed: 0, open: 1 })
  member.record.leave('SUCCEEDED', 0)
  member.record.close()
})

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call'),
      who: fc.nat(3),
      action: fc.constantFrom(...ACTIONS),
      status: fc.constantFrom(...STATUSES),
      enforced: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tear'), bytes: fc.nat(80) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('checkpoint'), how: fc.constantFrom('gone', 'torn', 'old', 'junk') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('join') }) },
)

test('summary and numbers say what the events say, also when checkpoints are lost and lines torn (seed 004 §1.8)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const runsDir = temporaryFolder()
      const path = join(runsDir, 'r', 'events.jsonl')
      const checkpointFile = checkpointPath(join(runsDir, 'r'))
      const members = [await joinAs(runsDir, 'r', 'm0', 'owner')]
      const log = new RunLog(join(runsDir, 'r'))
      let old = ''
      const checkpoint = (): string => {
        log.locked(() => log.checkpoint())
        return readFileSync(checkpointFile, 'utf8')
      }
      for (const act of steps) {
        const member = members['who' in act ? act.who % members.length : 0]
        if ('action' in act && member !== undefined) writeCall(member, act.action, act.status, act.enforced)
        else if ('bytes' in act)
          appendFileSync(
            path,
            '{"v":"0.2.0","type":"tool_call_start","call":{"call_id":"torn","seq":9'.slice(0, act.bytes),
          )
        else if ('how' in act) {
          const now = checkpoint()
          if (act.how === 'gone') rmSync(checkpointFile)
          if (act.how === 'torn') truncateSync(checkpointFile, Math.floor(now.length / 2))
          if (act.how === 'junk') writeFileSync(checkpointFile, 'x'.repeat(1_023) + '\n')
          if (act.how === 'old') writeFileSync(checkpointFile, old)
          old = now
        } else members.push(await joinAs(runsDir, 'r', `m${members.length}`))
      }
      for (const { record } of members) {
        expect(record.leave('SUCCEEDED', 0)).toBeDefined()
        record.close()
      }
      log.close()
      const lines = readFileSync(path, 'utf8')
      expect(lines.endsWith('\n')).toBe(true)
      const events = parseLines(lines)
      const problems = checkBooks(events).filter((problem) => !problem.includes('errors_total'))
      expect(problems).toEqual([])
      const errors = ofType(events, 'tool_call_end').filter(({ status }) => status === 'ERROR' || status === 'TIMEOUT')
      expect((ofType(events, 'run_end')[0] as Json)['run'].summary.errors_total).toBe(errors.length)
      rmSync(runsDir, { recursive: true })
    }),
    { numRuns: scaled(60, 3_000) },
  )
})

test('what members report when they leave adds up: the worst status, and every lost event', async () => {
  const runsDir = temporaryFolder()
  const reports: [RunStatus, number][] = [
    ['SUCCEEDED', 2],
    ['FAILED', 0],
    ['CANCELLED', 5],
  ]
  const members = await Promise.all(reports.map((_, n) => joinAs(runsDir, 'r', `m${n}`)))
  for (const [n, [status, lost]] of reports.entries()) {
    members[n]?.record.leave(status, lost)
    members[n]?.record.close()
  }
  const events = parseLines(readFileSync(join(runsDir, 'r', 'events.jsonl'), 'utf8'))
  expect(events.at(-1)).toMatchObject({ type: 'run_end', run: { status: 'FAILED', summary: { events_lost: 7 } } })
})

test.each([
  ['SUCCEEDED', 'CANCELLED', 'SUCCEEDED'],
  ['SUCCEEDED', 'FAILED', 'FAILED'],
  ['CANCELLED', 'SUCCEEDED', 'CANCELLED'],
] as const)('a run whose owner says %s, and a shim %s, ended %s', async (owners, shims, status) => {
  const runsDir = temporaryFolder()
  const owner = await joinAs(runsDir, 'r', 'owner', 'owner')
  const shim = await joinAs(runsDir, 'r', 'shim')
  // A host that is done tells its servers to end, and then goes itself.
  shim.record.leave(shims, 0)
  owner.record.leave(owners, 0)
  for (const { record } of [shim, owner]) record.close()
  const events = parseLines(readFileSync(join(runsDir, 'r', 'events.jsonl'), 'utf8'))
  expect(events.at(-1)).toMatchObject({ type: 'run_end', run: { status } })
})

test('a look reaches every abandoned run in the end, however many others are open', async () => {
  const runsDir = temporaryFolder()
  const living = await Promise.all(
    Array.from({ length: ABANDONED_RUNS_MAX + 8 }, (_, n) =>
      joinAs(runsDir, `living-${String(n).padStart(3, '0')}`, 'm'),
    ),
  )
  // A mark whose run was never opened, last in any order of names.
  writeFileSync(openMark(runsDir, 'zzz-dead'), '')
  let looks = 0
  while (readdirSync(join(runsDir, '.open')).includes('zzz-dead') && looks < 200) {
    clock.advance(7)
    closeAbandonedRuns(runsDir, clock)
    looks += 1
  }
  expect(readdirSync(join(runsDir, '.open'))).toHaveLength(living.length)
  for (const { record } of living) record.close()
})

test('a run that cannot be read is no reason not to close the others', async () => {
  const runsDir = temporaryFolder()
  const member = await joinAs(runsDir, 'b-run', 'm')
  member.record.close()
  writeFileSync(openMark(runsDir, 'a-file'), '')
  writeFileSync(join(runsDir, 'a-file'), 'a file where the folder of a run should be')
  const { closed, problems } = closeAbandonedRuns(runsDir, clock)
  expect(closed).toBe(1)
  expect(problems).toEqual([expect.stringContaining('a-file')])
  expect(parseLines(readFileSync(join(runsDir, 'b-run', 'events.jsonl'), 'utf8')).at(-1)).toMatchObject({
    type: 'run_end',
  })
})
