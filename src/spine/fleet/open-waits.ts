// Everything that waits for a person, of whatever source, in one list. Pure.
import type { Request } from '../../runs/approvals.ts'
import type { ChangedTools, FleetFacts, PlainSession, RunFact } from './facts.ts'
import type { Collision, Wait, WaitAnswer } from './fleet.ts'
import type { KnownAgent, OpenNote, OpenTask } from './known-agents.ts'
import { BUDGET_SOURCE, kindOf, noticeIn } from './wait-kind.ts'
import { inOrder, oneLine, shellWord } from './plain-words.ts'

/** Oldest first; snoozed ones come last. */
export function openWaits(facts: FleetFacts): Wait[] {
  const { runs, sessions, tools, known, nowMs, snoozed, approvals } = facts
  const waits = [
    // No answer reaches the command of a killed supervisor.
    ...runs.filter(({ lost }) => lost === undefined).flatMap(waitsOfRun),
    ...approvals.map((request) => waitOfApproval(request, placeOfHost(request, facts))),
    ...sessions
      .filter((session) => askedThere(session, approvals) === undefined)
      .flatMap((session) => waitOfSession(session, nowMs)),
    ...known.agents.flatMap(waitOfHost),
    ...known.notes.map(waitOfNote),
    ...known.collisions.map(waitOfCollision),
    ...tools.map((server) => waitOfTools(server, runs)),
  ]
  // What the session of a task asks here is answered here, and stands in the list once.
  const asking = new Set(waits.flatMap(({ run_id: run }) => run ?? []))
  waits.push(...known.tasks.filter(({ run_id: run }) => run === null || !asking.has(run)).map(waitOfTask))
  const withSnoozed = waits.map((wait): Wait => {
    const until = snoozed.get(wait.id)
    return until === undefined || until <= nowMs ? wait : { ...wait, snoozed_until: new Date(until).toISOString() }
  })
  const isSnoozed = ({ snoozed_until: until }: Wait): number => (until === null ? 0 : 1)
  return withSnoozed.sort((a, b) => isSnoozed(a) - isSnoozed(b) || inOrder(a.since, b.since))
}

type Stated = Omit<Wait, 'snoozed_until' | 'detail'> & Partial<Pick<Wait, 'detail'>>

/** The words are those of agents and servers. */
const stated = (wait: Stated): Wait => ({
  detail: null,
  ...wait,
  asks: oneLine(wait.asks),
  evidence: { ...wait.evidence, seen: oneLine(wait.evidence.seen) },
  snoozed_until: null,
})

function waitsOfRun({ run, approvals }: RunFact): Wait[] {
  const { wait, pulse } = run
  const place = { agent_id: run.agent.agent_id, session_id: run.session.id, run_id: run.identity.run_id }
  const waits = approvals.map((request) => waitOfApproval(request, place))
  const budget = pulse?.budget ?? null
  if (budget !== null)
    waits.push(
      stated({
        ...place,
        id: `budget.${place.run_id}.${budget.rule_id}`,
        kind: 'budget',
        asks: `${budget.summary}, ${budget.refusals} refused`,
        since: budget.since,
        evidence: { source: 'policy', seen: `rule ${budget.rule_id}` },
        answers: [attach(run.session.id), look('see the calls', 'heimdall', 'runs', 'show', place.run_id)],
      }),
    )
  else if (pulse?.near !== undefined) {
    const { rule_id: rule, counter, used, limit, since } = pulse.near
    waits.push(
      stated({
        ...place,
        id: `budget-near.${place.run_id}.${rule}`,
        kind: 'budget',
        asks: `${used} of ${limit} ${counter === 'calls' ? 'calls' : 'units of cost'} used`,
        since,
        evidence: { source: 'policy', seen: `rule ${rule}` },
        answers: [attach(run.session.id), look('see the calls', 'heimdall', 'runs', 'show', place.run_id)],
      }),
    )
  }
  // What a shim has told the session stands in the list by itself for as long as it is asked, and is answered after that:
  // the shim takes its word back when it looks next.
  // So does a budget, which the watcher has booked too.
  if (wait !== null && wait.source !== BUDGET_SOURCE && noticeIn(wait.evidence) === undefined)
    waits.push(ofSession({ ...place, id: wait.wait_id, since: wait.started_at, ...wait, session_id: run.session.id }))
  return waits
}

interface SessionWait {
  readonly id: string
  readonly agent_id: string
  readonly session_id: string
  readonly run_id: string | null
  readonly since: string
  readonly source: string
  readonly evidence: string | null
}

function ofSession({ source, evidence, id, agent_id, session_id, run_id, since }: SessionWait): Wait {
  return stated({
    id,
    kind: kindOf(evidence),
    agent_id,
    session_id,
    run_id,
    asks: askedIn(evidence),
    since,
    evidence: { source, seen: evidence ?? 'it waits for input' },
    answers: [attach(session_id), look('see its screen', 'hm', 'peek', session_id)],
  })
}

/** What a terminal signal is called is no part of the question. */
export function askedIn(evidence: string | null): string {
  const words = (evidence ?? '').replace(
    /^(?:OSC \d+(?:;\d+)?|title): (?:(?:permission|question|input|blocked)(?:: |$))?/,
    '',
  )
  return words === '' ? 'waits for input' : words
}

function waitOfSession(session: PlainSession, nowMs: number): Wait[] {
  const { id, needs_input: needs } = session
  if (!needs.value) return []
  const since = new Date(nowMs - (session.needs_input_ms ?? session.state_ms)).toISOString()
  return [ofSession({ id: `session.${id}`, agent_id: id, session_id: id, run_id: null, since, ...needs })]
}

/** A host in a terminal that is no session of ours: there is no way to it but to go there. */
function waitOfHost({ agent_id, wait, spent }: KnownAgent): Wait[] {
  if (wait === null) return []
  const { wait_id: id, started_at: since, source, evidence } = wait
  return [
    stated({
      id,
      kind: kindOf(evidence),
      agent_id,
      session_id: null,
      run_id: spent?.run_id ?? null,
      asks: askedIn(evidence),
      since,
      evidence: { source, seen: evidence ?? 'it waits for input' },
      answers: [look('it asks in its own terminal; see which', 'heimdall', 'hosts')],
    }),
  ]
}

/** A host that the user started is known by its run, or by the session that its shim notified. */
function placeOfHost(request: Request, { known, sessions }: FleetFacts): Place {
  const { run_id, agent_id } = request
  const session_id = sessions.find((one) => askedThere(one, [request]) !== undefined)?.id ?? null
  const agent = known.agents.find(({ spent }) => spent?.run_id === run_id)?.agent_id ?? session_id
  return { agent_id: agent ?? (agent_id === 'unknown' ? null : agent_id), session_id, run_id }
}

/** The question that the notice of a session is about. */
const askedThere = ({ needs_input: { evidence } }: PlainSession, requests: readonly Request[]): Request | undefined =>
  requests.find(({ id }) => id === noticeIn(evidence)?.approval)

type Place = Pick<Wait, 'agent_id' | 'session_id' | 'run_id'>

function waitOfApproval(request: Request, place: Place): Wait {
  const { id, question, server_name: server, tool_name: tool, args_preview: args, asked_at: since, rule_id } = request
  return stated({
    ...place,
    id,
    kind: 'permission',
    asks: `${server} ${tool} ${args.split('\n', 1)[0] ?? ''}: ${question}`,
    detail: `${server} ${tool} ${args}`,
    since,
    evidence: { source: 'policy', seen: `rule ${rule_id} asks` },
    answers: [
      answer('allow', 'allow once', 'heimdall', 'approve', id),
      answer('allow run', 'allow for the run', 'heimdall', 'approve', '--run', id),
      answer('deny', 'deny', 'heimdall', 'deny', id),
      look('see all of it', 'heimdall', 'approve', '--show', id),
    ],
  })
}

function waitOfNote({ message_id: id, category, from, to, subject, action, urgency, since, why }: OpenNote): Wait {
  const asked = action === null || action === subject ? subject : `${subject}: ${action}`
  return stated({
    id,
    kind: 'needs input',
    agent_id: from,
    session_id: null,
    run_id: null,
    asks: category === 'BLOCKED' ? asked : `${asked}, passed to ${to}`,
    since,
    evidence: { source: 'note', seen: `${category} to ${to}${urgency === null ? '' : `, urgency ${urgency}`}: ${why}` },
    answers: [
      answer('ack', `accept it for ${to}`, 'heimdall', 'note', 'ack', id, '--human'),
      look('read it', 'heimdall', 'note', 'list', '--agent', to),
    ],
  })
}

function waitOfTask({ task_id: id, worker, asks, kind, since }: OpenTask): Wait {
  const show = look('see it whole', 'heimdall', 'task', 'show', id)
  const cancel = look('give it up', 'heimdall', 'task', 'cancel', id)
  const answers = {
    input: [look('answer it', 'heimdall', 'task', 'answer', id), show, cancel],
    auth: [show, cancel],
    triage: [look('send it again', 'heimdall', 'task', 'retry', id), show, cancel],
  }
  return stated({
    id: `task.${id}.${since}`,
    kind: kind === 'auth' ? 'permission' : kind === 'input' ? 'question' : 'needs input',
    agent_id: worker,
    session_id: null,
    run_id: null,
    asks: `${id}: ${asks}`,
    since,
    evidence: { source: 'task', seen: kind === 'triage' ? 'it is in triage' : `its worker asks for ${kind}` },
    answers: answers[kind],
  })
}

function waitOfCollision(collision: Collision): Wait {
  const { id, wanted, wanted_by: by, held_by: holder, held, attempts, since } = collision
  return stated({
    id: `collision.${id}`,
    kind: 'collision',
    agent_id: by,
    session_id: null,
    run_id: null,
    asks: `wants ${wanted}, ${holder} holds ${held === wanted ? 'it' : held}`,
    since,
    evidence: { source: 'claims', seen: `INCURSION, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` },
    answers: [
      look('who holds it, and why', 'heimdall', 'why', wanted),
      answer('attach', `ask ${holder}`, 'hm', 'attach', holder),
    ],
  })
}

/** Whose it is: the agent whose session was told, where one was. */
function waitOfTools(server: ChangedTools, runs: readonly RunFact[]): Wait {
  const { server_name: name, changed, added, since } = server
  const told = runs.find(({ run }) => noticeIn(run.wait?.evidence ?? null)?.server === name)?.run
  const [first = ''] = [...changed, ...added]
  const more = changed.length + added.length - 1
  return stated({
    id: `pins.${name}`,
    kind: 'tool changed',
    agent_id: told?.agent.agent_id ?? null,
    session_id: told?.session.id ?? null,
    run_id: told?.identity.run_id ?? null,
    asks: `${name} ${first}, ${changed.length > 0 ? 'its definition differs' : 'a tool that was not there'}${more > 0 ? `, and ${more} more` : ''}`,
    since,
    evidence: { source: 'pins', seen: `${changed.length} changed, ${added.length} new` },
    answers: [look('see what differs, and approve it', 'heimdall', 'mcp', 'pins', 'show', name)],
  })
}

function answer(act: WaitAnswer['act'], label: string, ...argv: WaitAnswer['argv']): WaitAnswer {
  return { act, label: oneLine(label), argv, command: argv.map(shellWord).join(' ') }
}

const attach = (session: string): WaitAnswer => answer('attach', 'take the keyboard', 'hm', 'attach', session)
const look = (label: string, ...argv: WaitAnswer['argv']): WaitAnswer => answer('look', label, ...argv)
