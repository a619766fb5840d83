// hm attach: watch a session and type into it, in whatever way this terminal allows.
import { type SessionConnection, openConnection } from '../../../client/connection.ts'
import { HeimdallError } from '../../../errors.ts'
import { readExitRecord } from '../../../sessions/session-files.ts'
import type { From } from '../../../wire/payloads.ts'
import type { Answer, Context, Run } from '../../command.ts'
import type { SessionElsewhere } from '../../../sessions/elsewhere/session-elsewhere.ts'
import type { attach } from '../../table/session.ts'
import { chooseSession } from './choose.ts'
import { refuseToAnswer } from './answering.ts'
import { ended, endpointOf, locate, sessionAround } from './locate.ts'
import { socketDirOf } from './socket-dir.ts'
import { viewersOf } from './versions.ts'
import { surviveItsEnd } from './view/dead-terminal.ts'
import type { Leave } from './view/view.ts'

export interface AttachTarget {
  readonly id: string
  readonly dir: string
  readonly socketPath: string
  /** In place of the socket: a session of another machine. */
  readonly elsewhere?: SessionElsewhere
  readonly isInline: boolean
  readonly isReadOnly: boolean
  readonly isSafe: boolean
  /** Other viewers are sent away first. */
  readonly isAlone: boolean
  /** A reader that goes away (`| head`) or input that ends does not end the viewing: the exit code is the command's. */
  readonly staysToEnd: boolean
  /** Where an inline view begins; a drawn one begins with the screen as it is, unless a byte is named. */
  readonly from: From
  /** Aborted when the viewing has done its duty. */
  readonly answered?: AbortSignal
  /** Told what the viewer types into the program, without what the viewer's terminal says by itself. */
  readonly onTyped?: (bytes: Buffer) => void
}

export const run: Run<typeof attach> = async (context, { flags, args }) => {
  const isHere = flags.host === undefined
  const dir = isHere ? await socketDirOf(context, flags) : ''
  const around = isHere ? await sessionAround(context, dir) : undefined
  const located = await locate(context, flags, args.id ?? (await chooseSession(context, flags, around)))
  if (!located.isRunning) throw ended(located)
  if (located.id === around) throw itself(located.id)
  if (flags['read-only'] !== true) {
    const connection = await openConnection(endpointOf(located))
    await refuseToAnswer(connection, located.id)
    connection.close()
  }
  return await attachTo(context, {
    id: located.id,
    dir: located.dir,
    socketPath: located.paths.socket,
    ...(located.elsewhere === undefined ? {} : { elsewhere: located.elsewhere }),
    isInline: flags.inline === true,
    isReadOnly: flags['read-only'] === true,
    isSafe: flags.safe === true,
    isAlone: flags['detach-others'] === true,
    staysToEnd: false,
    from: 'scrollback',
  })
}

/** A session drawn inside itself would draw itself drawing itself. */
function itself(id: string): HeimdallError {
  return new HeimdallError('USAGE', `this terminal is session ${id} itself`, { hint: 'attach from another terminal' })
}

/** Attaches until the command ends (its exit code), or the viewer leaves (0). */
export async function attachTo(context: Context, target: AttachTarget): Promise<Answer> {
  surviveItsEnd(context)
  const config = await context.settings()
  const found = await connectOrRecord(target)
  const leave: Leave =
    'exitCode' in found
      ? { reason: 'exited', code: found.exitCode }
      : await view(context, target, found.connection, config.detach_key.value as number)
  return answer(context, leave.id ?? target.id, leave)
}

/** A short command may have ended, and its session stopped answering, before we came: then its exit code. */
async function connectOrRecord({
  id,
  dir,
  socketPath,
  elsewhere,
}: AttachTarget): Promise<{ readonly connection: SessionConnection } | { readonly exitCode: number }> {
  try {
    return { connection: await openConnection(elsewhere ?? socketPath) }
  } catch (error) {
    const record = elsewhere === undefined ? readExitRecord(dir, id) : elsewhere.exit
    if (error instanceof HeimdallError && error.code === 'SESSION_NOT_FOUND' && record !== undefined)
      return { exitCode: record.exit_code }
    throw error
  }
}

async function view(
  context: Context,
  target: AttachTarget,
  connection: SessionConnection,
  detachKey: number,
): Promise<Leave> {
  try {
    if (!target.isReadOnly) await connection.callAs(context.calledAs)
    if (target.isAlone) await sendOthersAway(context, target.id, connection)
    const isTerminal = context.stdin.isTTY && context.stdout.isTTY && context.env['TERM'] !== 'dumb'
    if (isTerminal && !target.isInline) {
      const { screenView } = await import('./view/screen-view.ts')
      return await screenView(context, target, connection, detachKey)
    }
    const { inlineView } = await import('./view/inline-view.ts')
    return await inlineView(context, target, connection, detachKey)
  } finally {
    connection.close()
  }
}

async function sendOthersAway(context: Context, id: string, connection: SessionConnection): Promise<void> {
  if ((await viewersOf(connection)) === undefined)
    context.note(`session ${id} was started by a version that sends nobody away; other viewers stay`)
  else await connection.detachOthers()
}

function answer(context: Context, id: string, leave: Leave): Answer {
  if (context.stdout.isTTY) context.note(`[${wordsFor(leave, id)}]`)
  if (leave.reason === 'exited')
    return { data: { id, reason: 'exited', exit_code: leave.code }, text: '', exit: leave.code }
  return { data: { id, reason: leave.reason, exit_code: null }, text: '' }
}

function wordsFor(leave: Leave, id: string): string {
  switch (leave.reason) {
    case 'exited':
      return `session exited with code ${leave.code}`
    case 'answered':
      return `answered; hm attach ${id} returns`
    case 'detached':
      return `detached; hm attach ${id} returns`
    case 'sent away':
      return `sent away by another client; hm attach ${id} returns`
    case 'SIGTERM':
    case 'SIGHUP':
    case 'end of input':
      return `left on ${leave.reason}; hm attach ${id} returns`
  }
}
