// `.planning/ledger/claims/`: one file for each holder, as seed 000 T-2 has it.
import { statSync } from 'node:fs'
import { isoSeconds } from '../../clock.ts'
import { removeIfThere, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { standingOf } from '../claims/conflicts.ts'
import { surfaceOf } from '../claims/surface.ts'
import type { Coordination } from '../coordination.ts'
import { iso } from '../moment.ts'
import { taskRef } from '../records.ts'
import type { Reader, StoredEvent } from '../store.ts'
import { readHaid } from '../who/haid.ts'
import { claimFilePath } from './ledger-files.ts'

/** A claim file as seed 000 T-2 has it, with what several claims of one holder need besides. */
interface ClaimFile {
  readonly haid: string
  readonly human: string
  readonly claimed_surfaces: readonly string[]
  readonly task_ref: string
  readonly claimed_at: string
  readonly ttl_minutes: number
  readonly heartbeat: string
  readonly agent_id: string
  readonly claims: readonly {
    readonly claim_id: string
    readonly epoch: number
    readonly surfaces: readonly string[]
    readonly task: string | null
    readonly claimed_at: string
    readonly ttl_minutes: number
  }[]
}

/** Of everybody whose claims the events are about, and of whoever acts now; nothing for one who holds nothing any more. */
export function claimFiles(
  room: Coordination,
  rows: Reader,
  events: readonly StoredEvent[],
  touched: string | undefined,
): Map<string, ClaimFile | undefined> {
  const holders = new Set(touched === undefined ? [] : [touched])
  for (const { claimId, payload } of events) {
    const holder = claimId === null ? undefined : rows.claim(claimId)?.holder
    if (holder !== undefined) holders.add(holder)
    if (typeof payload['prior_holder'] === 'string') holders.add(payload['prior_holder'])
  }
  const files = new Map<string, ClaimFile | undefined>()
  for (const haid of holders) if (rows.agent(haid)?.origin === 'local') files.set(haid, claimFile(room, rows, haid))
  return files
}

function claimFile(room: Coordination, rows: Reader, haid: string): ClaimFile | undefined {
  const held = rows.claims({ holder: haid, state: 'active' })
  const agent = rows.agent(haid)
  const [first] = held
  if (first === undefined || agent === undefined) return undefined
  const now = room.now()
  return {
    haid,
    human: readHaid(haid)?.human ?? 'unknown',
    claimed_surfaces: held.flatMap((claim) => claim.scopes.map(surfaceOf)),
    task_ref: [...new Set(held.map(({ task }) => taskRef(task, agent.runtime.client === null ? null : haid)))].join(
      ', ',
    ),
    claimed_at: isoSeconds(first.createdMs),
    ttl_minutes: Math.max(...held.map(({ ttlMinutes }) => ttlMinutes)),
    heartbeat: standingOf(room, rows, first, now).lastSeenAt,
    agent_id: agent.agentId,
    claims: held.map((claim) => ({
      claim_id: claim.claimId,
      epoch: claim.epoch,
      surfaces: claim.scopes.map(surfaceOf),
      task: claim.task,
      claimed_at: iso(claim.createdMs),
      ttl_minutes: claim.ttlMinutes,
    })),
  }
}

export function writeClaimFile(dir: string, haid: string, file: ClaimFile | undefined): void {
  const path = claimFilePath(dir, haid)
  if (file === undefined) removeIfThere(path)
  else replaceFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o644 })
}

/** The heartbeat in the file follows the agent's within half a minute of its acts, not with each of them. */
export function isFileStale(rows: Reader, dir: string, haid: string): boolean {
  const agent = rows.agent(haid)
  if (agent === undefined || rows.claims({ holder: haid, state: 'active' }).length === 0) return false
  const stats = onDisk(dir, () => statSync(claimFilePath(dir, haid), { throwIfNoEntry: false }))
  return stats === undefined || Math.abs(agent.beat.at.wallMs - stats.mtimeMs) >= 30_000
}
