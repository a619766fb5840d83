// The state of a session, running, ended or without its supervisor, as `hm status` prints it.
import { inlineText } from '../cells/plain-text.ts'
import type { SessionConnection } from '../client/connection.ts'
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import type { SessionAct } from '../wire/session-acts.ts'
import { infoIfKnown } from './ask-info.ts'
import { connectTo, exitOf, keptOf, type Located } from './locate.ts'

interface StatusAnswer {
  /** The names are those of `hm status --json`. */
  readonly data: object
  readonly lines: readonly string[]
}

export async function sessionStatus(located: Located, clock: Clock): Promise<StatusAnswer> {
  if (located.isLost) return lostStatus(located, clock)
  if (!located.isRunning) return endedStatus(located, clock)
  try {
    const connection = await connectTo(located)
    try {
      return await runningStatus(located.id, connection)
    } finally {
      connection.close()
    }
  } catch (error) {
    // It may have ended since it was located; an exit record of an earlier session with this id does not count.
    const isGone =
      error instanceof HeimdallError && (error.code === 'SESSION_NOT_FOUND' || error.code === 'SESSION_LOST')
    const exit = exitOf(located)
    const { holder } = located
    const isOwn = holder === undefined || holder.supervisorPid === exit?.supervisor_pid
    if (!isGone || exit === undefined || !isOwn) throw error
    return endedStatus({ ...located, exit }, clock)
  }
}

async function runningStatus(session: string, connection: SessionConnection): Promise<StatusAnswer> {
  const { pid, idleMs, alive, state, stateMs } = await connection.status()
  const info = await infoIfKnown(connection)
  const base = { id: session, pid, idle_ms: idleMs, alive, state, state_ms: stateMs }
  const lines = fiveLines(base)
  if (info !== undefined) {
    const { value, source, evidence } = info.needs_input
    const why = evidence === null ? source : `${source}: ${inlineText(evidence)}`
    lines.push(
      `needs_input: ${value ? `yes (${why})` : 'no'}`,
      `size: ${info.cols}x${info.rows}`,
      `command: ${inlineText(info.command.join(' '))}`,
      ...(info.title === '' ? [] : [`title: ${inlineText(info.title)}`]),
      ...(info.exit_code === null ? [] : [`exit_code: ${info.exit_code}`]),
      ...actLines(info.acts),
    )
  }
  return { data: { ...info, ...base }, lines }
}

const NO_INPUT = { value: false, source: 'none', evidence: null } as const

/** Without a supervisor to ask: what its files and the process table say. */
function lostStatus(located: Located, clock: Clock): StatusAnswer {
  const { id: session, holder, orphans, exit } = located
  // It has said itself how it ended before it was killed.
  if (orphans.length === 0 && exit !== undefined && exit.reason !== 'lost') return endedStatus(located, clock)
  const alive = orphans.length > 0
  const base = { id: session, pid: holder?.childPid ?? 0, idle_ms: 0, alive, state: 'lost', state_ms: 0 }
  const words = holder?.command ?? []
  const rest = alive ? `hm kill ${session} ends what is left` : `nothing of it runs; hm kill ${session} closes it`
  const lines = [
    ...fiveLines(base),
    `lost: its supervisor was killed; ${rest}`,
    `command: ${inlineText(words.join(' '))}`,
    ...orphans.map((one) => `still running: ${one.pid} ${inlineText(one.command)}`),
  ]
  const end = alive ? { exit_code: null } : { exit_code: null, ...exit }
  const data = { ...end, ...base, needs_input: NO_INPUT, command: words, title: '', processes: orphans }
  return { data, lines }
}

function endedStatus(located: Located, clock: Clock): StatusAnswer {
  const { id: session, exit } = located
  const kept = keptOf(located)
  const sinceMs = exit === undefined ? 0 : Math.max(0, clock.wallMs() - Date.parse(exit.ended_at))
  const base = { id: session, pid: exit?.pid ?? 0, idle_ms: sinceMs, alive: false, state: 'dead', state_ms: sinceMs }
  const keptBytes = kept?.bytes.length ?? 0
  const lines = [
    ...fiveLines(base),
    ...(exit === undefined
      ? []
      : [
          `exit_code: ${exit.exit_code}`,
          `ended: ${exit.ended_at} (${exit.reason})`,
          ...(exit.ended_by === null ? [] : [`ended_by: ${inlineText(exit.ended_by)}`]),
          `command: ${inlineText(exit.command.join(' '))}`,
          ...actLines(exit.acts),
        ]),
    ...(keptBytes === 0 ? [] : [`kept: ${keptBytes} bytes of output; hm logs ${session}, hm peek ${session}`]),
  ]
  const data = {
    ...exit,
    ...base,
    needs_input: NO_INPUT,
    exit_code: exit?.exit_code ?? null,
    title: kept?.title ?? '',
    ...kept?.size,
    kept_bytes: keptBytes,
  }
  return { data, lines }
}

const actLines = (acts: readonly SessionAct[] = []): string[] =>
  acts.map(({ at, act, by, what }) => `act: ${at} ${act}${what === '' ? '' : ` (${what})`}, ${inlineText(by)}`)

interface StatusLines {
  readonly id: string
  readonly pid: number
  readonly idle_ms: number
  readonly alive: boolean
  readonly state: string
  readonly state_ms: number
}

/** The lines of the seed; ours follow them. */
const fiveLines = (now: StatusLines): string[] => [
  `session: ${now.id}`,
  `pid: ${now.pid}`,
  `idle_ms: ${now.idle_ms}`,
  `alive: ${now.alive}`,
  `state: ${now.state} (${now.state_ms}ms)`,
]
