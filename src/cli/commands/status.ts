// heimdall status, next and snooze: what waits for a human, who works, and what it costs.
import { HeimdallError } from '../../errors.ts'
import { SNOOZE_MS } from '../../limits.ts'
import { requirePerson } from '../../person.ts'
import { seeable } from '../../pins/difference.ts'
import type { Fleet, Wait } from '../../spine/fleet/fleet.ts'
import { type FleetOptions, lookAtFleet } from '../../spine/fleet/look.ts'
import { snooze } from '../../spine/fleet/snooze.ts'
import { type Answer, command, type Command, type Context } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import { fleetColumns, fleetText, shortSpan } from '../render/fleet-text.ts'
import { showsGlyphs } from '../render/glyphs.ts'
import { socketDir } from '../session-flags.ts'

/** `data` of `status` and `top`. */
export const FLEET_OUTPUT =
  'at, project {root, name}, agents (state, since, evidence, task, branch, claims, calls, waits of each), waits (what ' +
  'needs a human, oldest first: id, kind, agent, since, question, detail of a tool call, evidence, answers), collisions, counts (agents by ' +
  'state; waiting counts waits that are not snoozed), calls, cost (null where no transcript reports usage), tokens (from ' +
  'the token ledger, or null), since (start of the oldest active run), policies (of active runs; they govern MCP calls ' +
  'through the shim), missing (sources that could not be read, with the error code)'

interface StatusFlags {
  readonly quiet: boolean | undefined
  readonly plain: boolean | undefined
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall status'],
    summary: 'Show which agents wait for you, work or collide',
    about:
      'Reads the repository that you are in and changes nothing. On a terminal it is laid out for people; in a pipe, ' +
      'or with --plain, it prints tab-separated columns: what, seconds, agent, kind, text.',
    flags: {
      quiet: { short: 'q', help: 'print one number: how many waits there are' },
      plain: { help: 'print tab-separated columns without colour or glyphs' },
      follow: { short: 'f', help: 'print it again at each change; with --json one line each' },
      'socket-dir': socketDir,
    },
    examples: {
      'heimdall status': 'shows the agents of this repository',
      'heimdall status -q': 'prints how many wait, for a shell prompt',
      "heimdall status --json | jq '.data.waits'": 'lists the waits for a program',
    },
    output: FLEET_OUTPUT,
    run: async (context, { flags }) => {
      const options = await fleetOptions(context, flags)
      if (flags.follow !== true) return answer(context, flags, await lookAtFleet(options))
      return await follow(context, flags, options)
    },
  }),
  command({
    names: ['heimdall next'],
    summary: 'Go from one wait to the next, the oldest first',
    about:
      'Attaches to the agent that has waited longest. When the agent continues, or when you detach (Ctrl-\\), the next one ' +
      'follows; a wait that a command answers is offered as a choice. Without a terminal it ' +
      'prints the oldest wait.',
    flags: { 'socket-dir': socketDir },
    examples: {
      'heimdall next': 'takes you through everything that waits',
      'heimdall next --json': 'prints the oldest wait for a program',
    },
    output:
      'wait (the oldest, as in heimdall status; null if nothing waits), waiting (how many), visited (ids of the waits that you were taken to)',
    run: async (context, { flags }) => {
      const options = await fleetOptions(context, flags)
      if (!context.stdin.isTTY || !context.stdout.isTTY || context.json) return oldest(await lookAtFleet(options))
      return await visitAll(context, options)
    },
  }),
  command({
    names: ['heimdall snooze'],
    changes: true,
    summary: 'Hide a wait for some time',
    args: [{ name: 'wait', help: 'id of a wait, or the agent whose waits to snooze' }],
    flags: {
      for: { type: 'duration', value: 'TIME', default: SNOOZE_MS, help: 'how long' },
      back: { help: 'end the snooze now' },
      'socket-dir': socketDir,
    },
    examples: {
      'heimdall snooze amber-otter': 'snoozes the waits of amber-otter for 15 minutes',
      'heimdall snooze msg_01 --for 2h': 'snoozes one wait for two hours',
    },
    output: 'waits (ids), snoozed_until (null with --back)',
    run: async (context, { args, flags }) => {
      const { waits } = await lookAtFleet(await fleetOptions(context, flags))
      const named = waits.filter(({ id, agent_id: agent }) => id === args.wait || agent === args.wait)
      const [wait] = named
      if (wait === undefined)
        throw new HeimdallError('WAIT_NOT_FOUND', `no wait of ${args.wait}`, {
          hint: 'heimdall status lists the agents that wait; heimdall status --json has the ids',
        })
      // Otherwise an agent could empty the list of what waits for its user.
      if (flags.back !== true) requirePerson(context.calledAs)
      const nowMs = context.clock.wallMs()
      const untilMs = flags.back === true ? nowMs : nowMs + flags.for
      for (const { id } of named) snooze(context.env, id, untilMs, nowMs)
      const until = flags.back === true ? null : new Date(untilMs).toISOString()
      return {
        data: { waits: named.map(({ id }) => id), snoozed_until: until },
        text: until === null ? `No longer snoozed: ${wait.asks}` : `Snoozed for ${shortSpan(flags.for)}: ${wait.asks}`,
      }
    },
  }),
]

function answer(context: Context, flags: StatusFlags, fleet: Fleet): Answer {
  if (flags.quiet === true) return { data: { waiting: fleet.counts.waiting }, text: String(fleet.counts.waiting) }
  if (context.json) return { data: fleet, text: '' }
  if (flags.plain === true || !context.style.isTty) return { data: fleet, text: fleetColumns(fleet) }
  return { data: fleet, text: fleetText(fleet, { style: context.style, hasGlyphs: showsGlyphs(context.env) }) }
}

/** Prints each new snapshot until the reader is gone. */
async function follow(context: Context, flags: StatusFlags, options: FleetOptions): Promise<Answer> {
  const [{ followFleet }, { TextOut }, { noticeReaderGone }] = await Promise.all([
    import('../../spine/fleet/follow.ts'),
    import('../text-out.ts'),
    import('../output-reader.ts'),
  ])
  if (context.stdout.isTTY) context.note('Waiting for changes; Ctrl-C to stop')
  const out = new TextOut(context.stdout)
  const over = new AbortController()
  const print = async (): Promise<void> => {
    for await (const fleet of followFleet(options, over.signal)) {
      const { data, text } = answer(context, flags, fleet)
      const isTaken = context.json
        ? await out.writeLine(data)
        : await out.write(`${text}\n${flags.quiet === true ? '' : '\n'}`)
      if (!isTaken) over.abort()
    }
  }
  // First: a reader that wants one snapshot is gone once it is printed.
  const noticed = noticeReaderGone(context.clock, over.signal, () => over.abort())
  await Promise.all([print().finally(() => over.abort()), noticed])
  return { data: null, text: '', streamed: true }
}

const isCounted = ({ snoozed_until: until }: Wait): boolean => until === null

function oldest({ waits, counts }: Fleet): Answer {
  const wait = waits.find(isCounted)
  const text =
    wait === undefined
      ? 'Nothing waits for you.'
      : [wait.agent_id ?? '-', wait.kind, wait.asks, wait.answers[0]?.command ?? ''].join('\t')
  return { data: { wait: wait ?? null, waiting: counts.waiting, visited: [] }, text }
}

async function visitAll(context: Context, options: FleetOptions): Promise<Answer> {
  const { sessionAround } = await import('../session-flags.ts')
  const around = await sessionAround(context, options.socketDir)
  const visited: string[] = []
  for (;;) {
    const fleet = await lookAtFleet(options)
    const open = fleet.waits.filter(isCounted)
    const wait = open.find(({ id, session_id: session }) => !visited.includes(id) && session !== around)
    if (wait !== undefined) visited.push(wait.id)
    const isLeft = wait !== undefined && (await visit(context, fleet, wait))
    if (wait !== undefined && !isLeft) continue
    const seen = open.length === 0 ? 'Nothing waits for you.' : `No more waits; ${open.length} of them still open.`
    return { data: { wait: null, waiting: open.length, visited }, text: isLeft ? '' : seen }
  }
}

/** True when the user has quit. */
async function visit(context: Context, fleet: Fleet, wait: Wait): Promise<boolean> {
  const age = shortSpan(Date.parse(fleet.at) - Date.parse(wait.since))
  context.note(`${wait.agent_id ?? fleet.project.name}, for ${age}: ${wait.kind}: ${wait.asks}`)
  if (wait.detail !== null) context.note(wait.detail.split('\n').map(seeable).join('\n'))
  const dir = fleet.agents.find(({ session_id: id }) => id === wait.session_id)?.socket_dir ?? null
  if (wait.answers[0]?.act !== 'attach' || wait.session_id === null || dir === null) {
    const { askAnswer } = await import('../wait-answers.ts')
    return (await askAnswer(context, wait)) === 'quit'
  }
  const { attachUntilAnswered } = await import('../attach.ts')
  return await attachUntilAnswered(context, { dir, id: wait.session_id })
}
