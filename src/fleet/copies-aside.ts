// What stood in the place of a member's copy, put beside it. A store that a machine has made alone is kept for good; of copies, which the engine has too, the newest few are.
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { copyAside } from '../coordination/sqlite/store-file.ts'
import { FLEET_COPIES_KEPT } from '../limits.ts'
import { removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'

export interface StoreAside {
  readonly asideAs: string
  /** It is no database that could be copied: the file itself goes. */
  readonly isBroken: boolean
}

/** Of a member's copy, and not of a store that is a machine's own. */
const COPY = '.copy'

export function asideName(path: string, wallMs: number, isCopy: boolean): string {
  return `${path}.${new Date(wallMs).toISOString().replace(/[:.]/g, '-')}${isCopy ? COPY : ''}`
}

export function putAside(path: string, { asideAs, isBroken }: StoreAside): void {
  if (isBroken) moveAside(path, asideAs)
  else copyAside(path, asideAs)
  if (asideAs.endsWith(COPY)) removeOldCopies(path)
}

function moveAside(path: string, asideAs: string): void {
  for (const end of ['', '-wal', '-shm'])
    if (existsSync(`${path}${end}`)) onDisk(path, () => renameSync(`${path}${end}`, `${asideAs}${end}`))
}

/** Their names begin with their time. */
function removeOldCopies(path: string): void {
  const folder = dirname(path)
  const copies = onDisk(folder, () => readdirSync(folder))
    .filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(COPY))
    .toSorted()
  for (const name of copies.slice(0, -FLEET_COPIES_KEPT))
    for (const end of ['', '-wal', '-shm']) removeIfThere(`${join(folder, name)}${end}`)
}
