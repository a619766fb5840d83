// The path of a call, put together: the gate, the books of what is open, and an adapter that carries messages.
import { openPolicy } from '../../policy/decide/plan.ts'
import type { readIdentity } from '../../runs/run-identity.ts'
import { Exposure } from '../secrets/exposure.ts'
import type { ShimOptions } from '../shim.ts'
import type { Adapter, Traffic } from './adapter.ts'
import { ClientInfo } from './client-info.ts'
import type { CutOff } from './client-judge.ts'
import { type GateParts, openGate, type OpenGate } from './open-gate.ts'
import { OpenCalls } from './open-calls.ts'
import type { Answering } from './refusals.ts'

export interface CallPath extends Pick<OpenGate, 'gate' | 'asking' | 'pins'> {
  readonly traffic: Traffic
  /** Who the shim is, with the client's name once that is known. */
  readonly named: ReturnType<typeof readIdentity>
  /** How it is, for a sign of life. */
  readonly facts: () => Readonly<Record<string, unknown>>
}

/** What a path is made of, besides its gate. */
interface PathParts extends Omit<GateParts, 'server' | 'sessionSocket' | 'onTerminate'> {
  readonly options: ShimOptions
  readonly adapter: Adapter
}

export function callPath({ options, adapter, ...parts }: PathParts): CallPath {
  const { identity, run, guarded } = parts
  const { redact, secrets } = guarded
  const named = { ...identity }
  const open = new OpenCalls()
  const { gate, asking, pins, lists } = openGate({
    ...parts,
    server: options,
    sessionSocket: options.sessionSocket,
    onTerminate(decision) {
      run.wakeOthers()
      traffic.terminate(decision)
    },
  })
  let clientSaid: string | undefined
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
  const passing = secrets?.passing ?? null
  const traffic = adapter({
    clock: options.clock,
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
  run.onTerminated((decision) => traffic.terminate(decision))
  const facts = (): ReturnType<CallPath['facts']> => ({
    calls_open: open.size,
    ...(run.events.excess.length === 0 ? {} : { excess: run.events.excess }),
    ...(clientSaid === undefined ? {} : { client_name: redact(clientSaid) }),
  })
  return { traffic, gate, asking, pins, named, facts }
}
