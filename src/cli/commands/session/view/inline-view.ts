// Attached inline: output passed through as it comes, into a terminal that keeps its own scroll-back, or into a pipe.
import type { SessionConnection } from '../../../../client/connection.ts'
import type { Timer } from '../../../../clock.ts'
import { QueryFilter } from '../../../../cells/query-stream.ts'
import type { Context } from '../../../command.ts'
import { takeInput } from '../../../stdin.ts'
import type { AttachTarget } from '../attach.ts'
import { terminalSize } from '../terminal-size.ts'
import { TextOut } from '../text-out.ts'
import { DetachKey } from './detach-key.ts'
import { makeRaw } from './raw-terminal.ts'
import { type Leave, WayOut } from './view.ts'

/** What a program may leave switched on: mouse, focus, paste, keypad, keyboard protocols, hidden cursor, other screen. */
const RESTORE =
  '\u001b[0m\u001b[?1;9;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l\u001b>\u001b[>4;0m\u001b[<99u' +
  '\u001b[?1049l\u001b[?25h'

/** A command that ends soon after its reader has gone (`| head -1`) needs no word about it. */
const READER_GONE_MS = 1_000

export async function inlineView(
  context: Context,
  target: AttachTarget,
  connection: SessionConnection,
  detachKey: number,
): Promise<Leave> {
  const { stdin, stdout } = context
  const isTerminal = stdin.isTTY && stdout.isTTY
  const wayOut = new WayOut()
  wayOut.onAnswer(target.answered)
  const restore = (): void => {
    process.off('exit', restore)
    if (isTerminal) {
      stdout.write(RESTORE)
      stdin.setRawMode(false)
    }
  }
  process.once('exit', restore)
  if (isTerminal) makeRaw(stdin)
  const undo = typeInto(context, target, connection, isTerminal ? detachKey : 0, wayOut)
  try {
    if (isTerminal && !target.isReadOnly) await connection.resize(terminalSize(stdout))
    void follow(context, target, connection, wayOut, isTerminal && !target.isReadOnly)
    return await wayOut.left
  } finally {
    undo()
    wayOut.close()
    restore()
  }
}

/** Standard input and signals to the session; returns how to stop. */
function typeInto(
  { stdin, stdout }: Context,
  { isReadOnly, staysToEnd, onTyped }: AttachTarget,
  connection: SessionConnection,
  detachKey: number,
  wayOut: WayOut,
): () => void {
  const fail = (error: Error): void => wayOut.fail(error)
  const key = new DetachKey(detachKey)
  let isLineOpen = false
  let isReleased = false
  const onData = (chunk: Buffer): void => {
    const { bytes, isDetach } = key.take(chunk)
    if (isDetach) wayOut.leave({ reason: 'detached' })
    if (bytes.length === 0 || isReadOnly) return
    isLineOpen = bytes.at(-1) !== 0x0a
    onTyped?.(bytes)
    // A pipe waits for the session. A terminal must not: the key that leaves has to be read.
    if (!stdin.isTTY) stdin.pause()
    connection
      .input(bytes)
      .then(() => (isReleased ? undefined : stdin.resume()))
      .catch(fail)
  }
  const onEnd = (): void => {
    // Who only looks types nothing, and has nothing to end.
    if (isReadOnly && !stdin.isTTY) return
    // What ends here is the viewing, not a session that others may use. The session of `hm run` was started with this
    // input, and has its end too: Ctrl-D, as a terminal says it.
    if (stdin.isTTY || !staysToEnd) wayOut.leave({ reason: 'end of input' })
    // In the middle of a line the first one only hands over the line.
    else connection.input(isLineOpen ? '\u0004\u0004' : '\u0004').catch(fail)
  }
  const onResize = (): void => {
    if (!isReadOnly) connection.resize(terminalSize(stdout)).catch(fail)
  }
  const release = takeInput(stdin, onData, onEnd)
  if (stdout.isTTY) stdout.on('resize', onResize)
  wayOut.onSignal('SIGTERM', () => wayOut.leave({ reason: 'SIGTERM' }))
  wayOut.onSignal('SIGHUP', () => wayOut.leave({ reason: 'SIGHUP' }))
  let isInterrupted = false
  wayOut.onSignal('SIGINT', () => {
    // The first one is the program's; a program that does not care must not hold the person who asks twice.
    if (isReadOnly || isInterrupted) wayOut.leave({ reason: 'detached' })
    else connection.input('\u0003').catch(fail)
    isInterrupted = true
  })
  return () => {
    isReleased = true
    release()
    stdout.off('resize', onResize)
  }
}

async function follow(
  context: Context,
  { id, isReadOnly, from, staysToEnd }: AttachTarget,
  connection: SessionConnection,
  wayOut: WayOut,
  answers: boolean,
): Promise<void> {
  const out = new TextOut(context.stdout)
  // Output is for eyes; who reads JSON reads one object.
  const isShown = !context.json || context.stdout.isTTY
  let goesOn: Timer | undefined
  const write = async (bytes: Buffer): Promise<void> => {
    if (!isShown || (await out.write(bytes))) return
    if (!staysToEnd) wayOut.leave({ reason: 'detached' })
    else goesOn ??= context.clock.after(READER_GONE_MS, () => context.note(goingOn(id)))
  }
  // What is replayed was asked, and answered, before we came.
  let replayed = answers ? new QueryFilter() : undefined
  const options = { from, readOnly: isReadOnly, gaps: true, replayEnd: answers, answers, viewer: context.stdout.isTTY }
  try {
    for await (const event of connection.subscribe(options)) {
      // With its own carriage return: the terminal adds none now.
      if (event.type === 'gap') context.note(`[${event.droppedBytes} bytes were dropped here]\r`)
      if (event.type === 'output') await write(replayed?.push(event.bytes) ?? event.bytes)
      if (event.type === 'replay-end' || event.type === 'exit') {
        await write(replayed?.end() ?? Buffer.alloc(0))
        replayed = undefined
      }
      if (event.type === 'exit') wayOut.leave({ reason: 'exited', code: event.code })
      if (event.type === 'error' && event.code === 'SESSION_DETACHED') wayOut.leave({ reason: 'sent away' })
    }
  } catch (error) {
    wayOut.fail(error as Error)
  } finally {
    goesOn?.cancel()
  }
}

function goingOn(id: string): string {
  return `[nobody reads the output any more; session ${id} goes on until its command ends: hm kill ${id} ends it]`
}
