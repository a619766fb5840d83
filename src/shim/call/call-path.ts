// The path of a call, put together: the gate with what it asks, the two directions of the traffic, and the books of what is open.
import { tmpdir } from 'node:os'
import { createRedact, type Redact } from '../../events/redact.ts'
import { createIdSource } from '../../id-source.ts'
import { openPolicy, type Policy } from '../../policy/decide/plan.ts'
import type { Decision } from '../../policy/types.ts'
import type { RunPart } from '../../runs/taking-part.ts'
import { Asking } from './asking.ts'
import { AgentOut } from '../messages/agent-out.ts'
import type { Answering } from './refusals.ts'
import { ClientInfo } from './client-info.ts'
import { ClientJudge } from './client-judge.ts'
import { ClientSide } from '../traffic/client-side.ts'
import { CallGate } from './call-gate.ts'
import type { readIdentity } from '../run-identity.ts'
import { OpenCalls } from './open-calls.ts'
import { PathLocations } from './path-locations.ts'
import type { PolicyState } from '../policy-state.ts'
import { stateOfRun } from '../run-state.ts'
import { Exposure } from '../secrets/exposure.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { SessionNotice } from './session-notice.ts'
import type { ShimOptions } from '../shim.ts'
import { ToolAnnotations } from './tool-annotations.ts'
import { type Traffic, startTraffic } from '../traffic/traffic.ts'
import type { Upstream } from '../server/upstream.ts'
import { UpstreamSide } from '../traffic/upstream-side.ts'

export interface CallPath {
  readonly traffic: Traffic
  readonly gate: CallGate
  readonly state: PolicyState
  readonly asking: Asking
  /** Who the shim is, with the client's name once that is known. */
  readonly named: ReturnType<typeof readIdentity>
  /** How it is, for a sign of life. */
  readonly facts: () => { readonly calls_open: number; readonly client_name?: string }
}

/** The server, and what keeps its secrets out of all that is written. */
interface Guarded {
  readonly upstream: Upstream
  readonly redact: Redact
  readonly secrets: Secrets | null
}

export function callPath(
  options: ShimOptions,
  identity: ReturnType<typeof readIdentity>,
  { upstream, redact, secrets }: Guarded,
  policy: Policy,
  run: RunPart,
  note: (line: string) => void,
): CallPath {
  const { clock, serverName } = options
  const named = { ...identity }
  const passing = secrets?.passing ?? null
  const previews = createRedact(passing)
  const state = stateOfRun(run.shared, clock)
  const open = new OpenCalls()
  const annotations = new ToolAnnotations()
  let clientSaid: string | undefined
  const out = new AgentOut(options.stdout)
  const asking: Asking = new Asking({
    serverName,
    runId: run.runId,
    agentId: identity.agent_id,
    approvals: run.approvals,
    clock,
    redact,
    previews,
    notice: new SessionNotice(options.sessionSocket, note),
    namesOf: (judged) => run.text.names(gate.names(judged)),
    say: run.say,
    note,
  })
  let paths: PathLocations | undefined
  const gate: CallGate = new CallGate({
    serverName,
    policy,
    state,
    events: run.events,
    text: run.text,
    redact,
    previews,
    asking,
    annotations,
    paths: () => (paths ??= new PathLocations(options.cwd, options.env['HOME'])),
    clock,
    newId: createCallIds(createIdSource(clock)()),
    onTerminate(decision) {
      run.terminate(decision)
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
    upstreamSide: new UpstreamSide({
      gate,
      open,
      annotations,
      events: run.events,
      exposure: passing === null || secrets === null ? null : new Exposure(passing, secrets.namesIn),
    }),
    clientSide: (flow) => {
      const side = new ClientSide({
        judge,
        out,
        events: run.events,
        flow,
        holdFolder: options.env['TMPDIR'] ?? tmpdir(),
      })
      asking.onRelease((held) => side.release(held))
      return side
    },
    stdin: options.stdin,
    stdout: options.stdout,
    signals: options.signals,
    parentPid: options.parentPid,
    note,
  })
  run.onTerminated((why) => {
    // Shims write decisions there, and nobody else does.
    const decision = why as Decision
    gate.terminate(decision)
    traffic.terminate(decision)
  })
  const facts = (): ReturnType<CallPath['facts']> => ({
    calls_open: open.size,
    ...(clientSaid === undefined ? {} : { client_name: redact(clientSaid) }),
  })
  return { traffic, gate, state, asking, named, facts }
}

/** One unique id for the shim, and a number: chance for every call would cost as much as judging it. */
function createCallIds(base: string): () => string {
  let calls = 0
  return () => `${base}-${(calls += 1).toString(36)}`
}
