// The inline view: passes output through, into a terminal that keeps its own scrollback, or into a pipe.
import { spawnSync } from 'node:child_process'
import { QueryFilter } from '../../cells/query-stream.ts'
import type { SessionConnection } from '../../client/connection.ts'
import type { Timer } from '../../clock.ts'
import { isErrno } from '../../errors.ts'
import { takeInput, terminalSize } from '../../user-terminal.ts'
import { DetachKey } from './view-keys.ts'
import { type Leave, type Viewer, type ViewTarget, WayOut } from './view.ts'

/** What a program may leave switched on: mouse, focus, paste, keypad, keyboard protocols, hidden cursor, other screen. */
const RESTORE =
  '\u001b[0m\u001b[?1;9;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l\u001b>\u001b[>4;0m\u001b[<99u' +
  '\u001b[?1049l\u001b[?25h'

/** A command that ends soon after its reader has gone (`| head -1`) gets no note. */
const READER_GONE_MS = 1_000

export async function inlineView(viewer: Viewer, target: ViewTarget, connection: SessionConnection): Promise<Leave> {
  const { stdin, stdout } = viewer
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
  const undo = typeInto(viewer, target, connection, isTerminal ? viewer.detachKey : 0, wayOut)
  try {
    if (isTerminal && !target.isReadOnly) await connection.resize(terminalSize(stdout))
    void follow(viewer, target, connection, wayOut, isTerminal && !target.isReadOnly)
    return await wayOut.left
  } finally {
    undo()
    wayOut.close()
    restore()
  }
}

/** Standard input and signals to the session; returns how to stop. */
function typeInto(
  { stdin, stdout }: Viewer,
  { isReadOnly, staysToEnd, onTyped }: ViewTarget,
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
    // A read-only viewer has no input to end.
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
    // The first Ctrl-C goes to the program; the second detaches.
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
  viewer: Viewer,
  { id, isReadOnly, from, staysToEnd }: ViewTarget,
  connection: SessionConnection,
  wayOut: WayOut,
  answers: boolean,
): Promise<void> {
  let goesOn: Timer | undefined
  const write = async (bytes: Buffer): Promise<void> => {
    if (await viewer.write(bytes)) return
    if (!staysToEnd) wayOut.leave({ reason: 'detached' })
    else goesOn ??= viewer.clock.after(READER_GONE_MS, () => viewer.note(goingOn(id)))
  }
  // What is replayed was asked, and answered, before we came.
  let replayed = answers ? new QueryFilter() : undefined
  const options = { from, readOnly: isReadOnly, gaps: true, replayEnd: answers, answers, viewer: viewer.stdout.isTTY }
  try {
    for await (const event of connection.subscribe(options)) {
      // With its own carriage return: the terminal adds none now.
      if (event.type === 'gap') viewer.note(`[${event.droppedBytes} bytes were dropped here]\r`)
      if (event.type === 'output') await write(replayed?.push(event.bytes) ?? event.bytes)
      if (event.type === 'replay-end' || event.type === 'exit') {
        await write(replayed?.end() ?? Buffer.alloc(0))
        replayed = undefined
      }
      if (event.type === 'exit') wayOut.leave({ reason: 'exited', code: event.code })
      if (event.type === 'error' && event.code === 'SESSION_DETACHED') wayOut.leave({ reason: 'disconnected' })
    }
  } catch (error) {
    wayOut.fail(error as Error)
  } finally {
    goesOn?.cancel()
  }
}

function goingOn(id: string): string {
  return `[the reader of the output has gone; session ${id} goes on until its command ends: hm kill ${id} ends it]`
}

/**
 * Node's raw mode leaves output processing on, and adds a carriage return to each line feed even where the terminal did
 * not: what the session's own terminal has processed would be processed twice. Node has no call for it; `stty` has.
 * The way back is Node's: it puts back everything as it was found before the first change.
 */
export function makeRaw(stdin: NodeJS.ReadStream): void {
  stdin.setRawMode(true)
  const { error } = spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
  // Without it lines are drawn as before: right for all but programs that switch off output processing themselves.
  if (error !== undefined && !isErrno(error, 'ENOENT', 'EACCES', 'EAGAIN')) throw error
}
