// hm status: what a session is doing; after its end, how it ended.
import { HeimdallError } from '../../../errors.ts'
import type { ExitRecord } from '../../../wire/exit-record.ts'
import type { Info } from '../../../wire/payloads.ts'
import type { SessionAct } from '../../../wire/session-acts.ts'
import type { SessionStatus } from '../../../client/connection.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { inlineText } from '../../render/plain-text.ts'
import type { status } from '../../table/session.ts'
import { connectTo, exitOf, keptOf, locate, type Located } from './locate.ts'
import { infoIfKnown } from './versions.ts'

export const run: Run<typeof status> = async (context, { flags, args }) => {
  const located = await locate(context, flags, args.id)
  if (located.orphans.length > 0) return lostAnswer(located)
  if (!located.isRunning) return endedAnswer(context, located)
  return await askRunning(context, located)
}

/** A session may end, and stop answering, between the look at its files and the question. */
async function askRunning(context: Context, located: Located): Promise<Answer> {
  try {
    const connection = await connectTo(located)
    try {
      return runningAnswer(located.id, await connection.status(), await infoIfKnown(connection))
    } finally {
      connection.close()
    }
  } catch (error) {
    const exit = exitOf(located)
    if (!isGone(error) || exit === undefined || !isOf(exit, located)) throw error
    return endedAnswer(context, { ...located, exit })
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof HeimdallError && (error.code === 'SESSION_NOT_FOUND' || error.code === 'SESSION_LOST')

/** Not of an earlier session of the id. */
const isOf = ({ supervisor_pid: pid }: ExitRecord, { holder }: Located): boolean =>
  holder === undefined || holder.supervisorPid === pid

function runningAnswer(id: string, status: SessionStatus, info: Info | undefined): Answer {
  const { pid, idleMs, alive, state, stateMs } = status
  const lines = fiveLines({ id, pid, idleMs, alive, state, stateMs })
  if (info !== undefined) {
    const { value, source, evidence } = info.needs_input
    const why = evidence === null ? source : `${source}: ${inlineText(evidence)}`
    lines.push(`needs_input: ${value ? `yes (${why})` : 'no'}`, `size: ${info.cols}x${info.rows}`)
    lines.push(`command: ${inlineText(info.command.join(' '))}`)
    if (info.title !== '') lines.push(`title: ${inlineText(info.title)}`)
    if (info.exit_code !== null) lines.push(`exit_code: ${info.exit_code}`)
    lines.push(...actLines(info.acts))
  }
  const data = { ...info, id, pid, idle_ms: idleMs, alive, state, state_ms: stateMs }
  return { data, text: lines.join('\n') }
}

/** Nobody is there to ask: what its files and the system say. */
function lostAnswer({ id, holder, orphans }: Located): Answer {
  const base = { id, pid: holder?.childPid ?? 0, idleMs: 0, alive: true, state: 'lost', stateMs: 0 }
  const command = holder?.command ?? []
  const lines = [
    ...fiveLines(base),
    `lost: its supervisor was killed; hm kill ${id} ends what is left`,
    `command: ${inlineText(command.join(' '))}`,
    ...orphans.map((one) => `still running: ${one.pid} ${inlineText(one.command)}`),
  ]
  const data = {
    id,
    pid: base.pid,
    alive: true,
    state: 'lost',
    state_ms: 0,
    idle_ms: 0,
    needs_input: { value: false, source: 'none', evidence: null },
    exit_code: null,
    command,
    title: '',
    processes: orphans,
  }
  return { data, text: lines.join('\n') }
}

function endedAnswer({ clock }: Context, located: Located): Answer {
  const { id, exit } = located
  const kept = keptOf(located)
  const sinceMs = exit === undefined ? 0 : Math.max(0, clock.wallMs() - Date.parse(exit.ended_at))
  const base = { id, pid: exit?.pid ?? 0, idleMs: sinceMs, alive: false, state: 'dead', stateMs: sinceMs }
  const lines = fiveLines(base)
  if (exit !== undefined) lines.push(...endLines(exit))
  const data = {
    ...exit,
    id,
    pid: base.pid,
    alive: false,
    state: 'dead',
    state_ms: sinceMs,
    idle_ms: sinceMs,
    needs_input: { value: false, source: 'none', evidence: null },
    exit_code: exit?.exit_code ?? null,
    title: kept?.title ?? '',
    ...kept?.size,
    kept_bytes: kept?.bytes.length ?? 0,
  }
  if (data.kept_bytes > 0) lines.push(`kept: ${data.kept_bytes} bytes of output; hm logs ${id}, hm peek ${id}`)
  return { data, text: lines.join('\n') }
}

function endLines(exit: ExitRecord): string[] {
  return [
    `exit_code: ${exit.exit_code}`,
    `ended: ${exit.ended_at} (${exit.reason})`,
    ...(exit.ended_by === null ? [] : [`ended_by: ${inlineText(exit.ended_by)}`]),
    `command: ${inlineText(exit.command.join(' '))}`,
    ...actLines(exit.acts),
  ]
}

/** What was done to it, one line each. */
const actLines = (acts: readonly SessionAct[] = []): string[] =>
  acts.map(({ at, act, by, what }) => `act: ${at} ${act}${what === '' ? '' : ` (${what})`}, ${inlineText(by)}`)

/** The lines that clients of the field read; what we add comes after them. */
function fiveLines(status: SessionStatus & { readonly id: string }): string[] {
  return [
    `session: ${status.id}`,
    `pid: ${status.pid}`,
    `idle_ms: ${status.idleMs}`,
    `alive: ${status.alive}`,
    `state: ${status.state} (${status.stateMs}ms)`,
  ]
}
