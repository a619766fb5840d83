// What a host session has cost that nobody keeps: booked in its run's record when a turn ends, from the transcript that the host names.
import { putSpent, trailLockPath } from '../../coordination/trail.ts'
import type { UsageHost } from '../../hosts/usage/usage.ts'
import type { UsageTotal } from '../../runs/owned-run.ts'
import { bookedUsage } from '../../runs/run-cost.ts'
import { totalsOf } from '../../runs/run-facts.ts'
import type { RunPart } from '../../runs/taking-part.ts'
import { withFileLock } from '../../storage/file-lock.ts'
import { CostWatch } from '../costs/cost-watch.ts'
import { sessionKey } from '../costs/run-transcripts.ts'
import type { HookRoom } from './hook-room.ts'
import { inRun } from './person-waits.ts'

const USAGE_HOSTS: readonly string[] = ['claude', 'codex', 'gemini'] satisfies UsageHost[]

/** Of a session in a run of ours, the watcher books as it goes on. */
export async function bookCost(hook: HookRoom): Promise<void> {
  const { call, found, room, tree } = hook
  const { sessionId, host } = call
  if (found.as === 'session' || sessionId === undefined || !USAGE_HOSTS.includes(host)) return
  // A subagent and its parent may end at once, and each message is booked once.
  await withFileLock(trailLockPath(room.project, tree), () =>
    inRun(hook, (run) => {
      if (run.shared === null) return
      const total = booked(hook, run, run.shared.runDir, sessionKey(host, sessionId))
      if (total !== undefined) putSpent(room.project, tree, { run_id: run.runId, total })
    }),
  )
}

function booked(
  { around, folder, note }: HookRoom,
  run: RunPart,
  runDir: string,
  session: string,
): UsageTotal | undefined {
  const { env, clock } = around
  const { startedMs } = totalsOf(runDir)
  let total: UsageTotal | undefined
  const costs = new CostWatch({
    run: {
      cwd: folder,
      start: { started_at: new Date(startedMs ?? clock.wallMs()).toISOString() },
      hostSessions: [session],
    },
    isKnownOnly: true,
    booked: bookedUsage(runDir),
    book: (usage) => run.say((text) => text.modelUsage(usage)),
    onChange: (sum) => {
      total = sum
    },
    others: () => [],
    isMember: () => undefined,
    env,
    clock,
    note,
  })
  costs.settle()
  costs.stop()
  return total
}
