// Has anything arrived in the ledger's folder since this session last looked? Two looks at the disk instead of one per file.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { EVENTS_FILE, ledgerDir } from '../coordination/ledger/ledger-files.ts'
import type { Project } from '../paths.ts'

/** Times on disk are only as fine as the system's tick: what changed this recently may change again unseen. */
const SETTLED_MS = 100

/** Git replaces files by renaming, which shows in the time of the folder; events are appended, which shows in their size. */
export class LedgerNews {
  #seen: string | undefined

  isDue(project: Project, nowMs: number): boolean {
    const dir = ledgerDir(project)
    const claims = statSync(join(dir, 'claims'), { throwIfNoEntry: false })
    const events = statSync(join(dir, EVENTS_FILE), { throwIfNoEntry: false })
    const stamp = `${claims?.mtimeMs} ${claims?.ino} ${events?.mtimeMs} ${events?.size}`
    if (stamp === this.#seen) return false
    const newestMs = Math.max(claims?.mtimeMs ?? 0, events?.mtimeMs ?? 0)
    const isSettled = Math.abs(nowMs - newestMs) > SETTLED_MS
    this.#seen = isSettled ? stamp : undefined
    return true
  }
}
