// heimdall whoami: who a caller is taken for, by what proof, and what it holds.
import { type Caller, haidBeforeAny, askingHere } from '../../coordination/who/caller.ts'
import { listClaims } from '../../coordination/claims/claims.ts'
import { projectHaid } from '../../coordination/coordination.ts'
import { livenessIn } from '../../coordination/who/alive.ts'
import { readMachine } from '../../coordination/moment.ts'
import { pidOf } from '../../coordination/who/process-ref.ts'
import { NO_TASK } from '../../coordination/protocol.ts'
import { claimRecord } from '../../coordination/records.ts'
import { type Acting, whoActs } from '../../person.ts'
import { commandLine } from '../../processes.ts'
import type { Answer, Context, Run } from '../command.ts'
import type { whoami } from '../table/coordination.ts'
import { callerOf, withRoomToRead } from '../coordination-door.ts'

export const run: Run<typeof whoami> = (context) =>
  withRoomToRead(
    context,
    (room) => {
      const found = callerOf(context, room)
      const now = room.now()
      const liveness = room.store.read((rows) =>
        found.agent === undefined ? null : livenessIn(room, rows, found.agent, now),
      )
      return answer(context, found, liveness, listClaims(room, { holder: found.haid }).map(claimRecord))
    },
    ({ project, env }) => {
      const haid = haidBeforeAny(projectHaid(project, env, readMachine()), askingHere(context.env))
      const because = 'nobody has acted in this repository yet'
      return answer(
        context,
        { as: 'everybody', haid, agent: undefined, proof: 'none', because, secret: null },
        null,
        [],
      )
    },
  )

const PROOFS: Readonly<Record<Caller['proof'], string>> = {
  secret: 'the secret in HEIMDALL_SECRET',
  process: 'the process tree that it runs in',
  key: 'the key file that only its owner can read',
  none: 'nothing',
}

function answer(context: Context, found: Caller, liveness: string | null, holds: Record<string, unknown>[]): Answer {
  const { place } = askingHere(context.env)
  const acting = whoActs()
  const data = {
    haid: found.haid,
    agent_id: found.agent?.agentId ?? null,
    registered: found.agent !== undefined,
    proof: found.proof,
    because: found.because,
    may_act: found.refused === undefined && (found.proof !== 'none' || found.agent === undefined),
    refusal: found.refused === undefined ? null : { code: found.refused.error.code, hint: found.refused.error.hint },
    liveness,
    session: place?.session?.id ?? null,
    tree: place === undefined ? null : { pid: pidOf(place.tree), command: commandLine(pidOf(place.tree)) },
    person: acting.person,
    holds,
  }
  return { data, text: [...lines(found, liveness, acting), ...holds.map(held)].join('\n') }
}

function lines(found: Caller, liveness: string | null, acting: Acting): string[] {
  const name = found.agent === undefined ? 'not registered yet' : `${found.agent.agentId}, ${liveness ?? ''}`
  return [
    `${found.haid} (${name})`,
    `proved by ${PROOFS[found.proof]}: ${found.because}`,
    ...(found.refused === undefined
      ? []
      : [`may change nothing: ${found.refused.error.hint ?? found.refused.error.code}`]),
    acting.person ? `a person is acting: ${acting.name}` : `no person is acting: ${acting.reason}`,
  ]
}

function held(record: Record<string, unknown>): string {
  const surfaces = (record['claimed_surfaces'] as string[]).join(' ')
  const ref = String(record['task_ref'])
  const isOfNone = ref === NO_TASK || ref.startsWith(`${NO_TASK} (`)
  const task = isOfNone ? ref.slice(NO_TASK.length) : ` for ${ref}`
  return `holds ${surfaces}${task} until ${String(record['expires_at'])}`
}
