// What carries messages between a client and a server, and what it is given for that: the side of an adapter.
import type { Clock } from '../../clock.ts'
import type { RunStatus } from '../../events/types.ts'
import type { Decision } from '../../policy/types.ts'
import type { EventWriter } from '../../runs/event-writer.ts'
import type { Exposure } from '../secrets/exposure.ts'
import type { Asking } from './asking.ts'
import type { CallGate } from './call-gate.ts'
import type { CutOff } from './client-judge.ts'
import type { OpenCalls } from './open-calls.ts'
import type { Answering } from './refusals.ts'
import type { ToolLists } from './tool-lists.ts'

/** What every adapter gets (seed 004 §7): all that judges, answers for and records calls, and nothing that knows how they travel. */
export interface CallCore {
  readonly clock: Clock
  readonly gate: CallGate
  readonly answering: Answering
  readonly open: OpenCalls
  readonly lists: ToolLists
  readonly asking: Asking
  readonly events: EventWriter
  readonly run: CutOff
  /** From now on nothing is sent on, and nobody is asked any more. */
  readonly cutOff: () => void
  /** Looks for the server's secrets in one stream of what it says; null where it has none. */
  readonly exposure: () => Exposure | null
}

export interface TrafficEnd {
  readonly exitCode: number
  readonly status: RunStatus
}

/** An adapter at work. */
export interface Traffic {
  readonly ended: Promise<TrafficEnd>
  /** Policy has ended the run: the server goes, the client is told with every request it still makes. */
  terminate(decision: Decision): void
}

export type Adapter = (core: CallCore) => Traffic
