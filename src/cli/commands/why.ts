// heimdall why: who holds this path, since when, until when and what for, who else wants it, and what to do.
import { checkScopes } from '../../coordination/claims/check-scopes.ts'
import type { Conflict } from '../../coordination/claims/conflicts.ts'
import { measureCase, scopeContext } from '../../coordination/claims/lookup.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { otherMachine } from '../../coordination/membership.ts'
import { conflictRecord } from '../../coordination/records.ts'
import { parseScopes } from '../../scopes/scope.ts'
import type { Collision } from '../../spine/fleet/fleet.ts'
import { knownAgents } from '../../spine/fleet/known-agents.ts'
import { oneLine, shellWord } from '../../spine/fleet/plain-words.ts'
import type { Run } from '../command.ts'
import type { whyPath } from '../table/coordination.ts'
import { withRoomToRead } from '../coordination-door.ts'
import { clockText, plural } from '../render/fleet-text.ts'

export const run: Run<typeof whyPath> = (context, { args: { path } }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts } = checkScopes(room, { scopes: [path], cwd: context.cwd, asker: null })
      const wanted =
        conflicts.length === 0 ? [] : knownAgents(room).collisions.filter((one) => conflicts.some(isOf(one)))
      const stories = conflicts.map((one) =>
        story(
          room,
          one,
          wanted.filter((other) => isOf(other)(one)),
          path,
        ),
      )
      return {
        data: { path, holders: conflicts.map(conflictRecord), wanted_by: wanted.map(wantedRecord) },
        text: conflicts.length === 0 ? `nobody holds ${path}` : stories.join('\n\n'),
      }
    },
    ({ project }) => {
      // What lies outside is refused, whether or not anybody has begun to coordinate.
      parseScopes([path], scopeContext(project, context.cwd, measureCase(project)))
      return { data: { path, holders: [], wanted_by: [] }, text: `nobody holds ${path}` }
    },
  )

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

function story(room: Coordination, conflict: Conflict, wanted: readonly Collision[], path: string): string {
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
    ['held by', `${agentId}  ${held}  ${facts.join(', ')}`],
    ['for', purposeOf(room, conflict)],
    ...wanted.map((one) => ['wanted by', wantedText(one, nowMs)] as const),
    ['next', nextText(conflict, path)],
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

/** To the second on the same day, with the day otherwise. */
function timeText(isoTime: string, nowMs: number): string {
  const time = new Date(isoTime)
  const now = new Date(nowMs)
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const isToday = time.toDateString() === now.toDateString()
  return isToday ? `${clockText(isoTime)}:${two(time.getSeconds())}` : `${day} ${clockText(isoTime)}`
}

const two = (count: number): string => String(count).padStart(2, '0')
