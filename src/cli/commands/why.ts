// heimdall why: who holds this path, since when, until when and what for, who else wants it, and what to do.
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import { type Conflict, isOwn } from '../../coordination/claims/conflicts.ts'
import { measureCase, scopeContext } from '../../coordination/claims/lookup.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { otherMachine } from '../../coordination/membership.ts'
import { conflictRecord } from '../../coordination/records.ts'
import { parseScopes } from '../../scopes/scope.ts'
import type { Collision } from '../../spine/fleet/fleet.ts'
import { knownAgents } from '../../spine/fleet/known-agents.ts'
import { oneLine, shellWord } from '../../spine/fleet/plain-words.ts'
import type { Answer, Run } from '../command.ts'
import type { whyPath } from '../table/coordination.ts'
import { withRoomToRead } from '../coordination-door.ts'
import { clockText, plural } from '../render/fleet-text.ts'
import { askerOf } from './claim/claim-answer.ts'

export const run: Run<typeof whyPath> = (context, { args: { path } }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts } = checkScopes(room, { scopes: [path], cwd: context.cwd, asker: null })
      if (conflicts.length === 0) return nobody(path)
      const asker = askerOf(context, room, undefined)
      const wanted = knownAgents(room).collisions.filter((one) => conflicts.some(isOf(one)))
      const holders = conflicts.map((conflict) => {
        const isYours = asker !== null && isOwn(room, asker, conflict)
        return { conflict, isYours, next: isYours ? releaseText(conflict, path) : nextText(conflict, path) }
      })
      return {
        data: {
          path,
          holders: holders.map(({ conflict, isYours, next }) => ({
            ...conflictRecord(conflict),
            yours: isYours,
            ...(isYours ? { hint: next } : {}),
          })),
          wanted_by: wanted.map(wantedRecord),
        },
        text: holders
          .map((holder) =>
            story(
              room,
              holder,
              wanted.filter((other) => isOf(other)(holder.conflict)),
            ),
          )
          .join('\n\n'),
      }
    },
    ({ project }) => {
      // What lies outside is refused, whether or not anybody has begun to coordinate.
      parseScopes([path], scopeContext(project, context.cwd, measureCase(project)))
      return nobody(path)
    },
  )

const nobody = (path: string): Answer => ({
  data: { path, holders: [], wanted_by: [] },
  text: `nobody holds ${path}`,
})

interface Holder {
  readonly conflict: Conflict
  /** Whoever asks holds it. */
  readonly isYours: boolean
  readonly next: string
}

const isOf =
  ({ claim_id: claim }: Collision) =>
  ({ claimId }: Conflict): boolean =>
    claimId === claim

const wantedRecord = ({ claim_id, wanted, wanted_by: agent_id, attempts, since, place }: Collision) => ({
  agent_id,
  wanted,
  claim_id,
  attempts,
  since,
  place,
})

function story(room: Coordination, { conflict, isYours, next }: Holder, wanted: readonly Collision[]): string {
  const { agentId, held, epoch, since, expiresAt, liveness, lease } = conflict
  const nowMs = room.now().wallMs
  const ends = lease === 'lapsed' ? 'its lease is over' : `lease ends ${timeText(expiresAt, nowMs)} if silent`
  const facts = [
    `epoch ${epoch}`,
    `since ${timeText(since, nowMs)}`,
    ends,
    ...(liveness === 'active' ? [] : [`it is ${liveness}`]),
    ...whereOf(room, conflict),
  ]
  const rows = [
    ['held by', `${isYours ? `you, ${agentId}` : agentId}  ${held}  ${facts.join(', ')}`],
    ['for', purposeOf(room, conflict)],
    ...wanted.map((one) => ['wanted by', wantedText(one, nowMs)] as const),
    ['next', next],
  ] as const
  return rows
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${label.padEnd(9)}  ${text}`)
    .join('\n')
}

function whereOf(room: Pick<Coordination, 'store' | 'project'>, { origin, haid }: Conflict): string[] {
  const machine = room.store.read((rows) => otherMachine(room, rows, haid))
  if (machine !== undefined) return [`on ${machine}`]
  return origin === 'remote' ? ['on another machine'] : []
}

/** Titles and intents are the words of agents. */
function purposeOf({ store }: Pick<Coordination, 'store'>, { haid, task, intent }: Conflict): string {
  const known = store.read((rows) =>
    task === null ? rows.tasks({ owner: haid, state: 'in_progress' }).at(-1) : rows.task(task),
  )
  const id = task ?? known?.taskId ?? ''
  const title = known === undefined || known.title === id ? '' : known.title
  const named = [id, title].filter((word) => word !== '').join(' ')
  return oneLine([named, intent ?? ''].filter((part) => part !== '').join(': '))
}

function wantedText({ wanted, held, wanted_by: agent, attempts, since, place }: Collision, nowMs: number): string {
  return [
    agent,
    wanted === held ? 'all of it' : 'partial overlap',
    `${plural(attempts, 'attempt')} since ${timeText(since, nowMs)}`,
    ...(place === null ? [] : [`place ${place} in the queue`]),
  ].join(', ')
}

/** From one who is there it is asked for or waited for; what one has left behind is taken over. */
function nextText({ liveness, agentId }: Conflict, path: string): string {
  const wait = `heimdall claim wait ${shellWord(path)}`
  if (liveness !== 'active') return `heimdall claim takeover ${shellWord(path)}, or ${wait}`
  return `${wait}, or heimdall note send --to ${agentId} --category HANDOFF`
}

/** By the path where that is the whole of it: a claim that covers more is named by its id, from whichever folder. */
function releaseText({ claimId, held, wanted }: Conflict, path: string): string {
  return `heimdall claim release ${held === wanted ? shellWord(path) : claimId}, when you are done with it`
}

/** To the second on the same day, with the day otherwise. */
function timeText(isoTime: string, nowMs: number): string {
  const time = new Date(isoTime)
  const now = new Date(nowMs)
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const isToday = time.toDateString() === now.toDateString()
  return isToday ? `${clockText(isoTime)}:${two(time.getSeconds())}` : `${day} ${clockText(isoTime)}`
}

const two = (count: number): string => String(count).padStart(2, '0')
