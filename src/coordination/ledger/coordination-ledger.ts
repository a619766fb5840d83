// `.planning/ledger/`: what people and other machines see of coordination. Written after the commit, never the only copy.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { LEDGER_BATCH_BYTES, LEDGER_BATCH_EVENTS } from '../../limits.ts'
import { ensureFolder } from '../../storage/atomic-file.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { changeAsOther } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import { iso } from '../moment.ts'
import type { Reader, StoredEvent } from '../store.ts'
import { slug } from '../who/haid.ts'
import { claimFiles, isFileStale, writeClaimFile } from './claim-files.ts'
import { appendEvents, idsOnFile } from './exported-events.ts'
import { claimFileName, EVENTS_FILE, knownSignature, ledgerDir, signatureKey, stampOf } from './ledger-files.ts'
import { writeStories } from './stories.ts'

/**
 * Brings the files up to the store's last event. Whoever comes after a crash writes what is missing: how far the
 * files of this planning folder are is kept in the store, and lines that were written already are not written again.
 * `onWritten` gets every event once, from whichever process writes it out.
 */
export async function exportLedger(
  room: Coordination,
  touched?: string,
  onWritten: (events: readonly StoredEvent[]) => void = () => undefined,
): Promise<void> {
  const dir = ledgerDir(room.project)
  const isBehind = room.store.read(
    (rows) =>
      rows.events({ afterSeq: exported(room, rows).seq, first: 1 }).length > 0 ||
      (touched !== undefined && isFileStale(rows, dir, touched)),
  )
  if (!isBehind) return
  const { root } = room.project
  // A repository that was removed or moved away meanwhile is not made again.
  if (!existsSync(root)) throw new HeimdallError('FOLDER_GONE', `${escapeControls(root)} was removed or moved away`)
  ensureFolder(join(dir, 'claims'))
  const toldOf = new ToldOf(dir)
  // A lock for each: others have something to export as well, and take up from where this one is.
  for (let isLast = false; !isLast;)
    isLast = await withFileLock(join(dir, '.export'), () => exportBatch(room, { dir, touched, toldOf, onWritten }))
}

interface Exporting {
  readonly dir: string
  readonly touched: string | undefined
  readonly toldOf: ToldOf
  readonly onWritten: (events: readonly StoredEvent[]) => void
}

/** Returns whether it was the last. */
async function exportBatch(room: Coordination, { dir, touched, toldOf, onWritten }: Exporting): Promise<boolean> {
  const { before, events, isLast, files } = room.store.read((rows) => {
    const before = exported(room, rows)
    const found = rows.events({ afterSeq: before.seq, first: LEDGER_BATCH_EVENTS })
    const events = withinBytes(found)
    const isLast = events.length === found.length && found.length < LEDGER_BATCH_EVENTS
    return { before, events, isLast, files: claimFiles(room, rows, events, isLast ? touched : undefined) }
  })
  const eventsPath = join(dir, EVENTS_FILE)
  const eventsBefore = stampOf(eventsPath)
  const aside = appendEvents(dir, {
    projectRoot: room.project.root,
    events: before.isWhole ? events : events.filter(({ id }) => !toldOf.ids().has(id)),
    writtenStamp: before.stamp,
    asideName: `${iso(room.clock.wallMs()).slice(0, 10)}-${slug(room.rootHaid)}-${events[0]?.seq ?? 0}`,
  })
  writeStories(dir, events)
  for (const [haid, file] of files) writeClaimFile(dir, haid, file)
  await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
    const seq = events.at(-1)?.seq ?? before.seq
    const rest = before.isWhole || isLast ? '' : ` ${BEGUN}`
    rows.putLocalSetting(exportedKey(room), `${seq} ${stampOf(eventsPath) ?? ''}${rest}`)
    const signature = signWritten(room, rows, { holders: [...files.keys()], eventsBefore, aside })
    rows.putLocalSetting(signatureKey(room.project), JSON.stringify(signature))
  })
  onWritten(events)
  return isLast
}

/** At least one, however large it is. */
function withinBytes(events: readonly StoredEvent[]): readonly StoredEvent[] {
  let bytes = 0
  const end = events.findIndex(({ payload }) => (bytes += JSON.stringify(payload).length) > LEDGER_BATCH_BYTES)
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}

/** Events that the files have in them already, because they came with the repository: looked for once, by a store that begins to export. */
class ToldOf {
  readonly #dir: string
  #ids: ReadonlySet<string> | undefined

  constructor(dir: string) {
    this.#dir = dir
  }

  ids(): ReadonlySet<string> {
    this.#ids ??= idsOnFile(this.#dir)
    return this.#ids
  }
}

/** What a store has not come to the end of yet, that it once began with. */
const BEGUN = 'begun'

const exportedKey = (room: Coordination): string => `exported:${room.project.planningDir}`

/** How far the files are, the stamp of the file of events when they were, and whether this store has exported all that there was when it began. */
function exported(room: Coordination, rows: Reader): { seq: number; stamp: string | undefined; isWhole: boolean } {
  const [seq = '0', stamp, begun] = (rows.localSetting(exportedKey(room)) ?? `0  ${BEGUN}`).split(' ')
  return { seq: Number(seq), stamp, isWhole: begun !== BEGUN }
}

interface Written {
  readonly holders: readonly string[]
  readonly eventsBefore: string | undefined
  readonly aside: string | null
}

/** The known signature with our own files as they are now, so that nobody takes them for news. Only ours: a file that arrived meanwhile stays news. */
function signWritten(
  room: Coordination,
  rows: Reader,
  { holders, eventsBefore, aside }: Written,
): Record<string, string> {
  const dir = ledgerDir(room.project)
  const signature = { ...knownSignature(rows, room.project) }
  const sign = (name: string): void => {
    const stamp = stampOf(join(dir, name))
    if (stamp === undefined) delete signature[name]
    else signature[name] = stamp
  }
  for (const haid of holders) sign(`claims/${claimFileName(haid)}`)
  if (signature[EVENTS_FILE] === eventsBefore)
    for (const name of [EVENTS_FILE, ...(aside === null ? [] : [aside])]) sign(name)
  return signature
}
