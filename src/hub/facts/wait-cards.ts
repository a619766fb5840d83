// Waits as the page shows and answers them: what the fleet says of each, with the note, the approval or the tools that it is about.
import { actionsOf } from '../../coordination/records.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import type { Collision, Fleet, FleetAgent, Wait } from '../../spine/fleet/fleet.ts'
import { LET_WAIT_MS } from '../../limits.ts'
import { type Choice, choicesOf, type ShownChoice } from '../../spine/fleet/choices.ts'
import type { WaitCard, WaitChoice, WaitCardKind } from '../contract.ts'
import { waitCardKind } from '../contract.ts'
import { evidenceOf } from './cards.ts'
import type { PinShown } from './changed-pins.ts'

export interface AboutWaits {
  /** The text of a note, whole. */
  readonly noteText: (noteId: string) => string | undefined
  readonly pinOf: (server: string) => PinShown | undefined
  readonly uncommittedIn: (folder: string) => number | undefined
  /** What a session that asks shows to choose from. */
  readonly choicesOf: (sessionId: string) => readonly ShownChoice[]
}

/** Of these a host shows its own choices. */
export const hasChoices = ({ kind, evidence }: Wait): boolean =>
  evidence.source !== 'task' && (kind === 'permission' || kind === 'question')

export const kindWord = (kind: Wait['kind']): WaitCardKind => waitCardKind.parse(kind.replace(' ', '_'))

export function waitCardOf(wait: Wait, fleet: Fleet, about: AboutWaits): WaitCard {
  const agent = fleet.agents.find(({ agent_id: id }) => id === wait.agent_id)
  const collision = wait.kind === 'collision' ? collisionOf(wait, fleet.collisions) : undefined
  const place = placeOf(wait)
  const pin = place.server === undefined ? undefined : about.pinOf(place.server)
  return {
    wait_id: wait.id,
    kind: kindWord(wait.kind),
    agent_id: wait.agent_id,
    session_id: wait.session_id ?? agent?.session_id ?? null,
    run_id: wait.run_id ?? agent?.run_id ?? null,
    task: place.task ?? agent?.task?.id ?? null,
    title: titleOf(wait),
    asked: (place.note === undefined ? wait.detail : about.noteText(place.note)) ?? titleOf(wait),
    since: wait.since,
    evidence: evidenceOf(wait.evidence, wait.since),
    answers: answersOf(wait, { session: agent?.session_id ?? null, showsPin: pin !== undefined, collision, about }),
    snoozed_until: wait.snoozed_until,
    touches: touchesOf(agent, fleet, about),
    why: whyOf(wait, agent, fleet),
    collision:
      collision === undefined
        ? null
        : {
            scope: collision.wanted,
            holder: collision.held_by,
            holder_claim: collision.id.split('.')[0] ?? null,
            kind: collision.held === collision.wanted ? 'exact' : 'partial',
            attempts: collision.attempts,
            place: collision.place,
          },
    note_id: place.note ?? null,
    approval_id: place.approval ?? null,
    pin: pin ?? null,
    command: wait.answers[0]?.command ?? 'heimdall status',
  }
}

/** Where the question lies, by what kind of wait it is. */
interface Place {
  readonly note?: string
  readonly approval?: string
  readonly server?: string
  readonly task?: string
}

function placeOf({ id, since, evidence, kind }: Wait): Place {
  if (evidence.source === 'task') return { task: id.slice('task.'.length, -`.${since}`.length) }
  if (evidence.source === 'note') return { note: id }
  if (evidence.source === 'pins') return { server: id.slice('pins.'.length) }
  return evidence.source === 'policy' && kind === 'permission' ? { approval: id } : {}
}

const collisionOf = ({ id }: Wait, collisions: readonly Collision[]): Collision | undefined =>
  collisions.find((one) => `collision.${one.id}` === id)

interface Asking {
  readonly session: string | null
  readonly showsPin: boolean
  readonly collision: Collision | undefined
  readonly about: AboutWaits
}

/** The choices that everybody has, with the names of those who collide. */
function answersOf(wait: Wait, { session, showsPin, collision, about }: Asking): WaitChoice[] {
  const shown = session !== null && hasChoices(wait) ? about.choicesOf(session) : []
  return choicesOf(wait, { hasSession: session !== null, showsPin, shown }).map((one) => asAnswer(one, collision))
}

function asAnswer(
  { id, label, act, isFirst, needsText, asksFirst }: Choice,
  collision: Collision | undefined,
): WaitChoice {
  const named = collision === undefined ? undefined : NAMED[act]?.(collision)
  const rests = act === 'wait' ? `asked again in ${LET_WAIT_MS / 60_000} min` : null
  return {
    answer_id: id,
    label: named?.label ?? label,
    act,
    is_first: isFirst,
    needs_text: needsText,
    asks_first: asksFirst,
    note: named?.note ?? rests,
  }
}

/** Of a collision: who is meant, and what comes of it. */
const NAMED: Partial<
  Record<Choice['act'], (collision: Collision) => { readonly label: string; readonly note: string }>
> = {
  wait: ({ wanted_by: by, held_by: holder }) => ({
    label: `Let ${by} wait`,
    note: `it goes on when ${holder} releases`,
  }),
  ask_holder: ({ held_by: holder }) => ({
    label: `Ask ${holder} to pass it on`,
    note: 'sends a note, wants Accepted',
  }),
}

type Fact = WaitCard['touches'][number]

const fact = (label: string, text: string, evidence: string | null = null): Fact => ({ label, text, evidence })

function touchesOf(agent: FleetAgent | undefined, fleet: Fleet, { uncommittedIn }: AboutWaits): Fact[] {
  if (agent === undefined) return []
  const scopes = agent.claims.flatMap((claim) => claim.scopes)
  const [first] = scopes
  const uncommitted = agent.cwd === null ? undefined : uncommittedIn(agent.cwd)
  const near = fleet.collisions.filter(({ wanted_by: by, held_by: holder }) => [by, holder].includes(agent.agent_id))
  return [
    ...(agent.branch === null ? [] : [fact('Branch', agent.branch, 'the worktree when the run began')]),
    ...(uncommitted === undefined
      ? []
      : [fact('Uncommitted', uncommitted === 1 ? '1 file' : `${uncommitted} files`, 'git status')]),
    fact(
      'Holds',
      first === undefined ? 'nothing' : `${first}${scopes.length > 1 ? ` +${scopes.length - 1}` : ''}`,
      'claims',
    ),
    fact(
      'Others near',
      near.length === 0 ? 'no collision with it' : near.map(({ wanted }) => wanted).join(', '),
      'incursions that are open',
    ),
  ]
}

function whyOf(wait: Wait, agent: FleetAgent | undefined, fleet: Fleet): Fact[] {
  const policy = fleet.policies.find(({ agents }) => wait.agent_id !== null && agents.includes(wait.agent_id))
  return [
    fact('Seen by', seenBy(wait)),
    ...(policy === undefined
      ? []
      : [fact('Policy', `${policy.policy_id} ${policy.version}, ${policy.mode}`, 'the run')]),
    ...(agent === undefined || agent.run_id === null
      ? []
      : [fact('Waited before', waitedBefore(agent), 'recorded by the watcher')]),
    ...(agent === undefined || agent.cost === null || agent.cost.usd === 0
      ? []
      : [
          fact(
            'Cost so far',
            `$${agent.cost.usd.toFixed(2)}`,
            `transcripts of its host, prices of ${agent.cost.prices}`,
          ),
        ]),
  ]
}

/** That it is a permission stands above it; what it is for is its own words. What we have put together ourselves is a sentence. */
function titleOf({ kind, asks, evidence: { source } }: Wait): string {
  if (kind === 'permission') return asks.replace(/^permission (?:to (?:run|use) ?)?: */i, '')
  return OWN_WORDS.has(source) ? `${asks.slice(0, 1).toUpperCase()}${asks.slice(1)}` : asks
}

const OWN_WORDS: ReadonlySet<string> = new Set(['claims', 'policy'])

/** Who has seen it, and by what; what is asked stands above already. */
function seenBy({ evidence: { source, seen }, asks }: Wait): string {
  const rest = (seen.endsWith(asks) ? seen.slice(0, -asks.length) : seen).replace(/[\s:,]+$/, '')
  switch (source) {
    case 'claims':
      return rest.replace(/^INCURSION/, 'claim refused')
    case 'note':
      return `note ${rest.split(':', 1)[0] ?? ''}`
    case 'osc':
      return `its own signal${/^(OSC \d+)/.test(rest) ? `, ${rest.split(/[:;]/, 1)[0]}` : ''}`
    case 'pins':
      return `pin mismatch, ${rest}`
    case 'policy':
    case 'task':
      return rest === '' ? source : rest
    default:
      return rest === '' ? source : `${source} ${rest}`
  }
}

/** This wait is one of those that the watcher has booked. */
function waitedBefore({ waited }: FleetAgent): string {
  const before = Math.max(0, waited.count - 1)
  return before === 0 ? 'not in this run' : before === 1 ? 'once in this run' : `${before} times in this run`
}

/** Notes by id, as they stand in the store. */
export const noteTextIn =
  (room: Coordination | undefined) =>
  (noteId: string): string | undefined => {
    const note = room?.store.read((rows) => rows.note(noteId))
    if (note === undefined) return undefined
    const actions = Object.entries(actionsOf(note)).map(([name, text]) => `${name.replace('_', ' ')}: ${text}`)
    return [note.subject, note.body, ...actions].join('\n\n')
  }
