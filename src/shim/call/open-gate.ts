// The gate with all that it asks: what the policy has counted, what persons have said, who holds what, which tools are known.
import { createRedact, type Redact } from '../../events/redact.ts'
import { createIdSource } from '../../id-source.ts'
import type { Policy } from '../../policy/decide/plan.ts'
import type { Decision, Locations } from '../../policy/types.ts'
import type { readIdentity } from '../../runs/run-identity.ts'
import type { RunPart } from '../../runs/taking-part.ts'
import { openPins, type PinnedServer } from '../pins/open-pins.ts'
import type { ToolPins } from '../pins/tool-pins.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { Asking } from './asking.ts'
import { CallGate } from './call-gate.ts'
import { CallWords } from './call-words.ts'
import type { ClaimCheck } from './claim-check.ts'
import { SessionNotice } from './session-notice.ts'
import { ToolAnnotations } from './tool-annotations.ts'
import { ToolLists } from './tool-lists.ts'

/** The server's secrets, and what keeps them out of all that is written. */
export interface Guarded {
  readonly redact: Redact
  readonly secrets: Secrets | null
}

/** What a gate is made of. */
export interface GateParts {
  readonly server: PinnedServer
  readonly identity: ReturnType<typeof readIdentity>
  readonly guarded: Guarded
  readonly policy: Policy
  readonly run: RunPart
  readonly claims: ClaimCheck | undefined
  /** Where paths in arguments lead: one look at the disk for claims and for rules. */
  readonly locate: (texts: readonly string[]) => Locations
  /** Finds the socket of the session that the agent runs in; undefined where there is none. */
  readonly sessionSocket: () => Promise<string | undefined>
  readonly onTerminate: (decision: Decision) => void
  readonly note: (line: string) => void
}

export interface OpenGate {
  readonly gate: CallGate
  readonly asking: Asking
  readonly pins: ToolPins
  readonly lists: ToolLists
}

export function openGate(parts: GateParts): OpenGate {
  const { server, guarded, policy, run, claims, locate, onTerminate, note } = parts
  const { redact, secrets } = guarded
  const { clock, serverName } = server
  const previews = createRedact(secrets?.passing ?? null)
  const annotations = new ToolAnnotations()
  const notice = new SessionNotice(parts.sessionSocket, note)
  const pins = openPins(server, { redact, own: secrets?.own ?? null, notice, say: run.say, note })
  const words = new CallWords({ serverName, policy, events: run.events, text: run.text, redact, previews, clock })
  const asking = new Asking({
    serverName,
    runId: run.runId,
    events: run.events,
    text: run.text,
    words,
    soloQuestions: run.soloQuestions,
    keepWhole: run.keepWhole,
    clock,
    redact,
    previews,
    notice,
    note,
  })
  const gate = new CallGate({
    serverName,
    policy,
    events: run.events,
    words,
    asking,
    annotations,
    pins,
    claims,
    locate,
    clock,
    newId: createCallIds(createIdSource(clock)()),
    onTerminate,
    note,
  })
  return { gate, asking, pins, lists: new ToolLists(annotations, pins) }
}

/** One unique id for the shim, and a number: chance for every call would cost as much as judging it. */
function createCallIds(base: string): () => string {
  let calls = 0
  return () => `${base}-${(calls += 1).toString(36)}`
}
