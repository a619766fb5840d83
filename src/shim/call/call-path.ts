// The path of a call, put together: the gate with what it asks, the books of what is open, and an adapter that carries messages.
import { createRedact, type Redact } from '../../events/redact.ts'
import { createIdSource } from '../../id-source.ts'
import { openPolicy, type Policy } from '../../policy/decide/plan.ts'
import type { Decision, Locations } from '../../policy/types.ts'
import type { readIdentity } from '../../runs/run-identity.ts'
import type { RunPart } from '../../runs/taking-part.ts'
import { openPins } from '../pins/open-pins.ts'
import type { ToolPins } from '../pins/tool-pins.ts'
import type { PolicyState } from '../policy-state.ts'
import { stateOfRun } from '../run-state.ts'
import { Exposure } from '../secrets/exposure.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { ShimOptions } from '../shim.ts'
import type { Adapter, Traffic } from './adapter.ts'
import { Asking } from './asking.ts'
import { CallGate } from './call-gate.ts'
import { CallWords } from './call-words.ts'
import type { ClaimCheck } from './claim-check.ts'
import { ClientInfo } from './client-info.ts'
import type { CutOff } from './client-judge.ts'
import { OpenCalls } from './open-calls.ts'
import type { Answering } from './refusals.ts'
import { SessionNotice } from './session-notice.ts'
import { ToolAnnotations } from './tool-annotations.ts'
import { ToolLists } from './tool-lists.ts'

export interface CallPath {
  readonly traffic: Traffic
  readonly gate: CallGate
  readonly state: PolicyState
  readonly asking: Asking
  readonly pins: ToolPins
  /** Who the shim is, with the client's name once that is known. */
  readonly named: ReturnType<typeof readIdentity>
  /** How it is, for a sign of life. */
  readonly facts: () => { readonly calls_open: number; readonly client_name?: string }
}

/** The server's secrets, and what keeps them out of all that is written. */
interface Guarded {
  readonly redact: Redact
  readonly secrets: Secrets | null
}

/** What a path is made of. */
interface PathParts {
  readonly options: ShimOptions
  readonly identity: ReturnType<typeof readIdentity>
  readonly guarded: Guarded
  readonly policy: Policy
  readonly run: RunPart
  readonly claims: ClaimCheck | undefined
  /** Where paths in arguments lead: one look at the disk for claims and for rules. */
  readonly locate: (texts: readonly string[]) => Locations
  readonly note: (line: string) => void
  readonly adapter: Adapter
}

export function callPath(parts: PathParts): CallPath {
  const { options, identity, guarded, policy, run, claims, locate, note, adapter } = parts
  const { redact, secrets } = guarded
  const { clock, serverName } = options
  const named = { ...identity }
  const passing = secrets?.passing ?? null
  const previews = createRedact(passing)
  const state = stateOfRun(run.shared, clock)
  const open = new OpenCalls()
  const annotations = new ToolAnnotations()
  let clientSaid: string | undefined
  const notice = new SessionNotice(options.sessionSocket, note)
  const pins = openPins(options, { redact, own: secrets?.own ?? null, notice, say: run.say, note })
  const lists = new ToolLists(annotations, pins)
  const words = new CallWords({ serverName, policy, events: run.events, text: run.text, redact, previews, clock })
  const asking = new Asking({
    serverName,
    runId: run.runId,
    agentId: identity.agent_id,
    approvals: run.approvals,
    clock,
    redact,
    previews,
    notice,
    namesOf: (judged) => run.text.names(words.names(judged)),
    say: run.say,
    note,
  })
  const gate: CallGate = new CallGate({
    serverName,
    policy,
    state,
    events: run.events,
    words,
    asking,
    annotations,
    pins,
    claims,
    locate,
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
  const cut: CutOff = { isCutOff: false }
  const traffic = adapter({
    clock,
    gate,
    answering,
    open,
    lists,
    asking,
    events: run.events,
    run: cut,
    cutOff() {
      cut.isCutOff = true
      asking.letAllGo()
    },
    exposure: () => (passing === null || secrets === null ? null : new Exposure(passing, secrets.namesIn)),
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
  return { traffic, gate, state, asking, pins, named, facts }
}

/** One unique id for the shim, and a number: chance for every call would cost as much as judging it. */
function createCallIds(base: string): () => string {
  let calls = 0
  return () => `${base}-${(calls += 1).toString(36)}`
}
