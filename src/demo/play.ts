// The play: who comes on when. Cues are what has really happened, never the time that has passed.
import { writeFileSync } from 'node:fs'
import { type Clock, pause } from '../clock.ts'
import { DEMO_ANSWER_MS, DEMO_LOOK_MS, MCP_PROBE_KEPT_MS } from '../limits.ts'
import type { Processes } from './processes.ts'
import { commandLine } from './command-reply.ts'
import type { Stage } from './stage.ts'
import type { Story } from './story.ts'

export interface Play {
  readonly stage: Stage
  readonly story: Story
  readonly processes: Processes
  readonly clock: Clock
  readonly program: string
  /** Factor of all pauses: 1, or 0 for those who only want to know that it works. */
  readonly pace: number
}

export const DISPATCHED = 'T-9'
const TRACKER = 'tracker'

const DETACHED = { detach: true, cols: '96', rows: '24' } as const

/** All of it, to the end of every run. */
export async function perform(play: Play): Promise<void> {
  const { story } = play
  const workers = startWorkers(play)
  await Promise.all([handover(play), takeover(play), budget(play), question(play), dispatch(play, workers)])
  await story.until(
    'every run had ended',
    ({ runs }) => runs.size > 0 && [...runs.values()].every(({ isOver }) => isOver),
  )
}

/** Under a run of its own, with the policy. */
async function run({ stage, processes, program }: Play, agent: string, task?: string): Promise<string> {
  const flags = { agent, role: 'coder', policy: stage.policy, ...DETACHED, ...(task !== undefined && { task }) }
  const { id, pid } = await processes.must(commandLine(['run'], flags, [process.execPath, program, agent]))
  processes.addAgent(Number(pid))
  return String(id)
}

/** A brief, a refused call that follows its hint, a collision, a queue, a handoff and its acceptance. */
async function handover(play: Play): Promise<void> {
  const { story, processes } = play
  const session = await run(play, 'amber-otter', '3.1')
  await story.until('amber-otter held its paths', () => story.has('CLAIM', 'amber-otter'))
  await run(play, 'teal-badger', '3.2')
  await story.until('teal-badger collided', () => story.has('INCURSION', 'teal-badger'))
  // What a person would say to the one in the way.
  const words = 'teal-badger waits for rows.ts; finish, hand over, release'
  await processes.must(['send', session, words, '--enter'])
  await story.until('the handoff was accepted', () => story.has('ACK', 'teal-badger'))
}

/** An agent dies with a claim and half a file; the next one takes over. */
async function takeover(play: Play): Promise<void> {
  const { story, processes, program } = play
  const flags = { id: 'grey-heron', ...DETACHED }
  const { id, pid } = await processes.must(commandLine(['hm', 'run'], flags, [process.execPath, program, 'grey-heron']))
  processes.addAgent(Number(pid))
  await processes.ask(['hm', 'wait', String(id), '--for', 'exit'])
  await run(play, 'cobalt-fox', '3.3')
  await story.until('cobalt-fox had taken over', () => story.has('TAKEOVER', 'cobalt-fox'))
}

async function budget(play: Play): Promise<void> {
  await run(play, 'rusty-wren')
}

/** Whoever looks may answer; otherwise the demo does. */
async function question(play: Play): Promise<void> {
  const { story, processes, clock, pace } = play
  const session = await run(play, 'plum-vole')
  await story.until('plum-vole asked', () => story.has('wait_start', 'plum-vole'))
  await pause(clock, DEMO_ANSWER_MS * pace)
  if (!story.has('wait_end', 'plum-vole')) await processes.ask(['send', session, 'even', '--enter'])
}

/** Resolves when whoever sends tasks knows both workers, and both say that their tracker answers; with when they last asked it. */
async function startWorkers({ stage, story, processes, program, clock }: Play): Promise<number> {
  await processes.reside(['worker', 'serve'], /announce themselves to .*\n/).said
  const worker = (name: 'north' | 'south', tier: string): Promise<string> =>
    processes.reside(
      commandLine(['worker', 'start'], { name, tier, servers: 'claude', runtime: 'command' }, [
        process.execPath,
        program,
        'clerk',
      ]),
      /takes tasks at .*\n/,
      stage.hosts[name],
    ).said
  await Promise.all([worker('north', 'haiku'), worker('south', 'sonnet')])
  await story.until('both workers had announced themselves', ({ workers }) => workers.size === 2)
  for (;;) {
    const answers = (await processes.must(['worker', 'announce'])) as unknown as readonly Announced[]
    const asked = answers.map(({ announce }) => announce?.mcp_checked[TRACKER]?.checked_at)
    const isWell = answers.length === 2 && answers.every(({ announce }) => announce?.mcp_health[TRACKER] === 'ok')
    if (isWell) return Math.max(...asked.map((at) => Date.parse(at ?? '')))
    // On a machine that is very busy a server may have been too slow to be believed; it is asked again after a minute.
    await pause(clock, DEMO_LOOK_MS)
  }
}

interface Announced {
  readonly announce: {
    readonly mcp_health: Readonly<Record<string, string>>
    readonly mcp_checked: Readonly<Record<string, { readonly checked_at: string }>>
  } | null
}

/** The cheaper worker is asked first; its tracker has died since it said what it has, so the task goes to the other. */
async function dispatch({ stage, processes, clock }: Play, workers: Promise<number>): Promise<void> {
  const checkedMs = await workers
  // A worker believes its servers for so long: before that, a dead one is not found out.
  await pause(clock, Math.max(0, checkedMs + MCP_PROBE_KEPT_MS - clock.wallMs()))
  writeFileSync(stage.trackerDown, 'north: the tracker is down\n')
  const flags = { id: DISPATCHED, mcp: TRACKER, 'read-only': true, wait: true, timeout: '60s' } as const
  await processes.must(commandLine(['task', 'add', 'Say which tasks this wave has'], flags))
}
