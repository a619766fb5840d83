// The one way into a repository's coordination, for every door: open it, take in what arrived, act, write out what changed, close it.
import { ignoredStaleMinutes } from './who/alive.ts'
import { type CallOrigin, caller } from './who/caller.ts'
import {
  type Coordination,
  type CoordinationOptions,
  isUnwritable,
  moveIntoGit,
  openCoordination,
  openCoordinationToRead,
} from './coordination.ts'
import { exportLedger } from './ledger/coordination-ledger.ts'
import { hasNews, ledgerSignature, type LedgerSignature } from './ledger/ledger-files.ts'
import { record } from '../storage/protocol-log.ts'
import { logLineOf } from './ledger/log-line.ts'
import { takeInRemote } from './ledger/remote.ts'

/** What a door brings along. */
export interface Door {
  readonly options: CoordinationOptions
  readonly asking: CallOrigin
  /** One line for whoever stands at the door; the answer does not depend on it. */
  readonly note: (line: string) => void
}

/** For those that may change something. What arrived from other machines is taken in first; the ledger is written last. */
export async function withRoom<T>(door: Door, act: (room: Coordination) => T | Promise<T>): Promise<T> {
  moveIntoGit(door.options.project)
  const room = openCoordination(door.options)
  try {
    noteIgnored(door, room)
    await takeIn(door, room)
    try {
      return await act(room)
    } finally {
      await publish(door, room, () => caller(room, door.asking).agent?.haid)
    }
  } finally {
    room.store.close()
  }
}

function noteIgnored({ options, note }: Pick<Door, 'options' | 'note'>, room: Coordination): void {
  const ignored = room.store.read((rows) => ignoredStaleMinutes(room, rows, options.env))
  if (ignored !== undefined) note(ignored)
}

/** For those that change nothing: the answer is `otherwise` where nobody has coordinated anything yet. */
export async function withRoomToRead<T>(
  door: Pick<Door, 'options' | 'note'>,
  act: (room: Coordination) => T | Promise<T>,
  otherwise: (options: CoordinationOptions) => T,
): Promise<T> {
  const { options } = door
  const signature = ledgerSignature(options.project)
  let room = openCoordinationToRead(options)
  if (room === undefined ? Object.keys(signature).length > 0 : hasNews(room, signature)) {
    const upToDate = await openWithNews(door, signature)
    if (upToDate !== undefined) room?.store.close()
    room = upToDate ?? room
  }
  if (room === undefined) return otherwise(options)
  try {
    noteIgnored(door, room)
    return await act(room)
  } finally {
    room.store.close()
  }
}

/** Whoever only reads is answered from what is known, also where nothing can be written. */
async function openWithNews(
  door: Pick<Door, 'options' | 'note'>,
  signature: LedgerSignature,
): Promise<Coordination | undefined> {
  let room: Coordination | undefined
  try {
    room = openCoordination(door.options)
    await takeIn(door, room, signature)
    return room
  } catch (error) {
    room?.store.close()
    if (!isUnwritable(error)) throw error
    door.note(`what arrived by git is not taken in: ${error.message}`)
    return undefined
  }
}

/** What arrived by git; files that cannot be used are named and passed over. */
export async function takeIn(
  { note }: Pick<Door, 'note'>,
  room: Coordination,
  signature = ledgerSignature(room.project),
): Promise<void> {
  for (const skipped of (await takeInRemote(room, signature)).skipped) note(skipped)
}

/**
 * The files that people and other machines read, up to the last event. The rule for all doors: the change is committed
 * by now and its answer stands, whatever becomes of the files. A failure is one line, and whoever comes next writes
 * them. That goes for errors of our own too, which would otherwise take the answer's place.
 * `touched`: whose claim file shows that it is alive.
 */
export async function publish(
  { note }: Pick<Door, 'note'>,
  room: Coordination,
  touched: () => string | undefined = () => undefined,
): Promise<void> {
  try {
    const place = { dir: room.project.planningDir, clock: room.clock, note }
    await exportLedger(room, touched(), (events) => {
      for (const { actor, action, detail } of events.flatMap((event) => logLineOf(event) ?? []))
        record(place, actor, action, detail)
    })
  } catch (error) {
    note(`the ledger files are behind: ${error instanceof Error ? error.message : String(error)}`)
  }
}
