// A shim whose server is starting: policy, run, the two directions of the traffic, and an orderly end.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Timer, within } from '../clock.ts'
import type { HeimdallError } from '../errors.ts'
import { EventText, policyText } from '../events/event-text.ts'
import { EventWriter } from '../runs/event-writer.ts'
import { folderOf, type OpenRun, openRun } from '../runs/open-run.ts'
import { createRedact } from '../events/redact.ts'
import { lookAfterRuns } from '../runs/prune.ts'
import { runsDirOf } from '../runs/run-close.ts'
import { runApprovals } from '../runs/questions.ts'
import { followOrders, type RunOrders } from '../runs/run-orders.ts'
import { createIdSource } from '../id-source.ts'
import { ABANDONED_LOOK_MS, EVENT_CLOSE_MS, SHIM_HEALTH_MS } from '../limits.ts'
import { bootId } from '../boot-id.ts'
import { openPolicy, type Policy } from '../policy/plan.ts'
import type { Decision } from '../policy/types.ts'
import { Asking } from './asking.ts'
import { AgentOut } from './agent-out.ts'
import type { Answering } from './answers.ts'
import { ClientInfo } from './client-info.ts'
import { ClientJudge } from './client-judge.ts'
import { ClientSide } from './client-side.ts'
import { Gate, refOf } from './gate.ts'
import type { readIdentity } from './identity.ts'
import { OpenCalls } from './open-calls.ts'
import { PathLocations } from './path-locations.ts'
import { type Loaded, loadPolicy, type PolicyWatch, watchPolicy } from './policy-source.ts'
import { memoryState, type PolicyState } from './policy-state.ts'
import { stateOfRun } from './run-state.ts'
import { SessionNotice } from './session-notice.ts'
import type { ShimOptions } from './shim.ts'
import type { StderrOut } from './stderr-out.ts'
import { ToolAnnotations } from './tool-annotations.ts'
import { type Traffic, startTraffic } from './traffic.ts'
import type { Upstream } from './upstream.ts'
import { UpstreamSide } from './upstream-side.ts'

type ShimIdentity = ReturnType<typeof readIdentity>

export interface Started {
  readonly identity: ShimIdentity
  readonly upstream: Upstream
  readonly stderr: StderrOut
}

/** Runs until the client leaves, the server ends or a signal comes; returns the exit code. */
export async function serve(options: ShimOptions, { identity, upstream, stderr }: Started): Promise<number> {
  const { clock } = options
  const loaded = await loadPolicy(options.policy, identity)
  const { policy, problem } = loaded
  if (problem !== null) stderr.note(`${problem.message}; calls take decision_on_error`)
  const run = await joinRun(options, identity, policy, stderr)
  stderr.wrapIn(new EventText(run.text.identity, () => clock.wallMs()), createRedact())
  const shim = assemble(options, identity, upstream, loaded, run, stderr)
  shim.say((text) =>
    text.policyLoaded(policyText(refOf(policy)), policy.snapshot.mode, {
      ok: problem === null,
      ...(problem === null ? {} : { message: problem.message }),
    }),
  )
  if (options.isVerbose) stderr.note(`run ${run.runId}, record ${recordOf(options, run)}`)
  const health = keepSignsOfLife(options, shim, (line) => stderr.note(line))
  const { exitCode, status } = await shim.traffic.ended
  health.cancel()
  shim.policyWatch?.close()
  shim.orders.current?.close()
  await shim.closeAsking()
  await shim.events.close(status)
  shim.state.close()
  stderr.sayEarly()
  await within(clock, EVENT_CLOSE_MS, stderr.drained())
  return exitCode
}

/** A sign of life now and then; and, a little after the start, a look at runs that nobody has ended. */
function keepSignsOfLife({ clock, env, keepRuns }: ShimOptions, shim: Shim, note: (line: string) => void): Timer {
  let hasLooked = false
  let timer = clock.after(ABANDONED_LOOK_MS, beat, { background: true })
  function beat(): void {
    timer = clock.after(SHIM_HEALTH_MS, beat, { background: true })
    const problems = lookAfterRuns(runsDirOf(env), keepRuns, clock)
    if (!hasLooked) for (const problem of problems) note(problem)
    hasLooked = true
    shim.signOfLife()
  }
  return { cancel: () => timer.cancel() }
}

function joinRun(options: ShimOptions, identity: ShimIdentity, policy: Policy, stderr: StderrOut): Promise<OpenRun> {
  const { clock, env, events } = options
  return openRun({
    env,
    clock,
    newId: createIdSource(clock),
    identity,
    start: {
      started_at: new Date(clock.wallMs()).toISOString(),
      mode: policy.snapshot.mode,
      policy: refOf(policy),
    },
    events: events === 'stderr' ? { out: (lines) => stderr.events(lines) } : events,
    parentPid: options.parentPid(),
    quietMs: options.quietMs,
    note: (line) => stderr.note(line),
  })
}

interface Shim {
  /** An event that is not about a call. */
  readonly say: (put: (text: EventText) => void) => void
  /** Says in the record how this shim is. */
  readonly signOfLife: () => void
  readonly traffic: Traffic
  readonly events: EventWriter
  readonly state: PolicyState
  readonly orders: { readonly current: RunOrders | null }
  readonly policyWatch: PolicyWatch | null
  readonly closeAsking: () => Promise<void>
}

function assemble(
  options: ShimOptions,
  identity: ShimIdentity,
  upstream: Upstream,
  { policy, text: policySource }: Loaded,
  run: OpenRun,
  stderr: StderrOut,
): Shim {
  const { clock, serverName } = options
  const named = { ...identity }
  const note = (line: string): void => stderr.note(line)
  const events = new EventWriter({
    record: run.record,
    lines: run.text.lines,
    clock,
    ...(run.copy === null ? {} : { copy: run.copy }),
    onTrouble(error, lost) {
      if (error !== null) {
        note(`events cannot be written: ${error.message}`)
        stderr.sayEarly()
        return
      }
      note(`events are written again; ${lost} were lost`)
      signOfLife()
    },
  })
  const redact = createRedact()
  const state = run.shared === null ? memoryState() : stateOfRun(run.shared, clock)
  const open = new OpenCalls()
  const annotations = new ToolAnnotations()
  const startMs = clock.monoMs()
  let clientSaid: string | undefined
  const say = (put: (text: EventText) => void): void => {
    if (events.room('other', 1) === 'none') return
    put(run.text)
    events.added()
  }
  const signOfLife = (): void =>
    say((text) =>
      text.shimHealth({
        uptime_ms: Math.round(clock.monoMs() - startMs),
        calls_open: open.size,
        events_lost: events.eventsLost,
        record: recordOf(options, run),
        ...(clientSaid === undefined ? {} : { client_name: redact(clientSaid) }),
      }),
    )
  const out = new AgentOut(options.stdout)
  const approvals = runApprovals(run.shared?.runDir ?? null, {
    runsDir: runsDirOf(options.env),
    folder: folderOf(run.runId),
    shimId: identity.source.shim_id,
  })
  const asking: Asking = new Asking({
    serverName,
    runId: run.runId,
    agentId: identity.agent_id,
    approvals: () => approvals.opened(),
    bootId: bootId(),
    clock,
    redact,
    notice: new SessionNotice(options.sessionSocket, note),
    namesOf: (judged) => run.text.names(gate.names(judged)),
    say,
    note,
  })
  const orders: { current: RunOrders | null } = { current: null }
  let paths: PathLocations | undefined
  const gate: Gate = new Gate({
    serverName,
    policy,
    state,
    events,
    text: run.text,
    redact,
    asking,
    annotations,
    paths: () => (paths ??= new PathLocations(options.cwd, options.env['HOME'])),
    clock,
    newId: createCallIds(createIdSource(clock)()),
    onTerminate(decision) {
      orders.current?.terminate(decision)
      traffic.terminate(decision)
    },
    note,
  })
  const client = new ClientInfo((name, said) => {
    clientSaid = said
    // What the environment says of the client stands.
    if (identity.client !== 'unknown') return
    named.client = name
    run.text.nameClient(name)
    if (gate.policy.snapshot.selectors.client !== undefined) gate.usePolicy(openPolicy(gate.policy.snapshot, named))
  })
  const answering: Answering = { gate, client, runId: run.runId, denyAs: options.denyAs }
  const judge = new ClientJudge({ gate, answering, open, annotations, asking, out })
  const traffic = startTraffic({
    clock,
    client,
    gate,
    judge,
    open,
    out,
    upstream,
    upstreamSide: new UpstreamSide({ gate, open, annotations, events }),
    clientSide: (flow) => {
      const side = new ClientSide({ judge, out, events, flow, holdFolder: options.env['TMPDIR'] ?? tmpdir() })
      asking.onRelease((held) => side.release(held))
      return side
    },
    stdin: options.stdin,
    stdout: options.stdout,
    signals: options.signals,
    parentPid: options.parentPid,
    note,
  })
  const { shared } = run
  shared?.whenJoined(() => {
    orders.current = followOrders(
      shared.runDir,
      (why) => {
        // Shims write decisions there, and nobody else does.
        const decision = why as Decision
        gate.terminate(decision)
        traffic.terminate(decision)
      },
      note,
    )
  })
  const policyWatch = followPolicy(options, named, policySource, gate, say, note)
  const closeAsking = async (): Promise<void> => {
    await asking.close()
    approvals.close()
  }
  return { say, signOfLife, traffic, events, state, orders, policyWatch, closeAsking }
}

/** Where this shim's events are to be found. */
function recordOf({ events }: ShimOptions, { shared }: OpenRun): string {
  if (shared !== null) return join(shared.runDir, 'events.jsonl')
  return events === null || events === 'stderr' ? 'stderr' : events.path
}

/** One unique id for the shim, and a number: chance for every call would cost as much as judging it. */
function createCallIds(base: string): () => string {
  let calls = 0
  return () => `${base}-${(calls += 1).toString(36)}`
}

/** A valid new policy replaces the old one between two calls; an invalid one is refused, and the old one stays. */
function followPolicy(
  options: ShimOptions,
  identity: ShimIdentity,
  loaded: string | null,
  gate: Gate,
  say: Shim['say'],
  note: (line: string) => void,
): PolicyWatch | null {
  const { policy: origin, clock, signals } = options
  if (origin.kind !== 'file') return null
  const report = (policy: Policy, problem: HeimdallError | null): void => {
    if (problem !== null) note(`${problem.message}; the policy in force stays`)
    say((text) =>
      text.policyLoaded(policyText(refOf(policy)), policy.snapshot.mode, {
        ok: problem === null,
        ...(problem === null ? {} : { message: problem.message }),
      }),
    )
  }
  // One after the other: a slow compilation must not overtake a later, quicker one.
  let last = Promise.resolve()
  const watch = watchPolicy({
    path: origin.path,
    loaded,
    clock,
    note,
    onChange: () => {
      last = last.then(async () => {
        const { policy, problem } = await loadPolicy(origin, identity)
        if (problem === null) gate.usePolicy(policy)
        report(problem === null ? policy : gate.policy, problem)
      })
    },
  })
  signals.on('SIGUSR2', () => watch.look())
  return watch
}
