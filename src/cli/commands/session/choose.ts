// The session that is meant when none is named: the only one that runs, or the one that the person picks from a list.
import { HeimdallError } from '../../../errors.ts'
import type { Context } from '../../command.ts'
import { readTypedLine } from '../../stdin.ts'
import type { HostFlag } from './elsewhere.ts'
import { type ListedRow, sessionLines } from './list-rows.ts'
import { type Listed, listed, rowOf } from './ls.ts'
import type { DirFlag } from './socket-dir.ts'

/** `around` is the session that this terminal is in, which cannot be attached to. */
export async function chooseSession(
  context: Context,
  flags: DirFlag & HostFlag,
  around: string | undefined,
): Promise<string> {
  const sessions = (await listed(context, flags, false))
    .filter(({ id, alive, state }) => id !== around && alive && state !== 'lost' && state !== 'unreadable')
    .sort(byNeed)
  const [first, ...others] = sessions
  if (first === undefined)
    throw new HeimdallError('SESSION_NOT_FOUND', 'no session runs', { hint: 'hm run -- COMMAND starts one' })
  if (others.length === 0) return first.id
  if (context.stdin.isTTY && context.stdout.isTTY && !context.json) return await pick(context, sessions)
  throw new HeimdallError('USAGE', `${sessions.length} sessions run: name one of them`, {
    hint: sessions.map(({ id }) => id).join(', '),
  })
}

const isWaiting = ({ needs_input: needsInput }: Listed): boolean => needsInput?.value === true

/** Who waits for a person comes first. */
const byNeed = (a: Listed, b: Listed): number => Number(isWaiting(b)) - Number(isWaiting(a)) || (a.id < b.id ? -1 : 1)

const chosenFrom = (session: Listed): ListedRow => ({ ...rowOf(session), since: '', project: '' })

async function pick(context: Context, sessions: readonly Listed[]): Promise<string> {
  const indent = String(sessions.length).length + 2
  const lines = sessionLines(sessions.map(chosenFrom), context.style, ' '.repeat(indent))
  const numbered = lines.map((line, i) => `${String(i + 1).padEnd(indent)}${line.slice(indent)}`)
  context.stdout.write(`${numbered.join('\n')}\n`)
  for (;;) {
    context.stdout.write(`Attach to which? [1-${sessions.length}, q] `)
    const word = await readTypedLine(context.stdin)
    const found = sessions.find(({ id }) => id === word) ?? sessions[Number(word) - 1]
    if (found !== undefined) return found.id
    if (word === undefined || word === 'q') throw new HeimdallError('USAGE', 'no session was chosen')
  }
}
