// `.planning/ledger/`: what people and other machines see of coordination. Written after the commit, never the only copy.
import { join } from 'node:path'
import { ensureFolder } from '../../storage/atomic-file.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { changeAsOther } from '../change.ts'
import type { Coordination } from '../coordination.ts'
import { iso } from '../moment.ts'
import type { Reader, StoredEvent } from '../store.ts'
import { slug } from '../who/haid.ts'
import { claimFiles, isFileStale, writeClaimFile } from './claim-files.ts'
import { appendEvents } from './exported-events.ts'
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
  const { events, hasStale } = room.store.read((rows) => ({
    events: rows.events({ afterSeq: exported(room, rows).seq }),
    hasStale: touched !== undefined && isFileStale(rows, dir, touched),
  }))
  if (events.length === 0 && !hasStale) return
  ensureFolder(join(dir, 'claims'))
  await withFileLock(join(dir, '.export'), async () => {
    const {
      before,
      events: left,
      files,
    } = room.store.read((rows) => {
      const before = exported(room, rows)
      const missing = rows.events({ afterSeq: before.seq })
      return { before, events: missing, files: claimFiles(room, rows, missing, touched) }
    })
    const eventsPath = join(dir, EVENTS_FILE)
    const eventsBefore = stampOf(eventsPath)
    const aside = appendEvents(dir, {
      projectRoot: room.project.root,
      events: left,
      writtenStamp: before.stamp,
      asideName: `${iso(room.clock.wallMs()).slice(0, 10)}-${slug(room.rootHaid)}-${left[0]?.seq ?? 0}`,
    })
    for (const event of left) writeStories(dir, event)
    for (const [haid, file] of files) writeClaimFile(dir, haid, file)
    await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
      rows.putLocalSetting(exportedKey(room), `${left.at(-1)?.seq ?? before.seq} ${stampOf(eventsPath) ?? ''}`)
      const signature = signWritten(room, rows, { holders: [...files.keys()], eventsBefore, aside })
      rows.putLocalSetting(signatureKey(room.project), JSON.stringify(signature))
    })
    onWritten(left)
  })
}

const exportedKey = (room: Coordination): string => `exported:${room.project.planningDir}`

/** How far the files are, and the stamp of the file of events when they were. */
function exported(room: Coordination, rows: Reader): { seq: number; stamp: string | undefined } {
  const [seq = '0', stamp] = (rows.localSetting(exportedKey(room)) ?? '0').split(' ')
  return { seq: Number(seq), stamp }
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
