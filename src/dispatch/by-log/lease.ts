// Who orchestrates a fleet: a lease in the log, which another machine takes over when its holder has gone silent. Two at once would do no harm, for every step is decided in the log; they would only be in each other's way.
import type { Timer } from '../../clock.ts'
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { type Membership, membershipIn } from '../../coordination/membership.ts'
import { sinceMs } from '../../coordination/moment.ts'
import { HeimdallError } from '../../errors.ts'
import { ORCHESTRATOR_LEASE_MS } from '../../limits.ts'
import { ORCHESTRATOR_SETTING, orchestratorSign } from '../../coordination/dispatched.ts'

interface Held {
  readonly holder: string
  readonly machine: string
}

export interface Lease {
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly room: Coordination
  /** Another has taken it: nothing is to be begun any more. */
  readonly onLost: () => void
  readonly note: (line: string) => void
  /** From here on it is not renewed; released or not, it ends. */
  readonly signal: AbortSignal
  readonly leaseMs?: number
}

/** Nothing while somebody on another machine has it. Of one machine's own processes a lock of the kernel has chosen one already. */
export async function takeLease({
  room,
  onLost,
  note,
  signal,
  leaseMs = ORCHESTRATOR_LEASE_MS,
}: LeaseOptions): Promise<Lease | undefined> {
  const member = membershipIn(room.store)
  if (member === undefined) return { release: () => Promise.resolve() }
  const mine: Held = { holder: room.newId(), machine: member.member }
  if (!(await claim(room, member, mine, leaseMs))) return undefined
  let timer: Timer | undefined
  let isReleased = false
  let renewal: Promise<void> = Promise.resolve()
  const renewLater = (): void => {
    if (signal.aborted || isReleased) return
    timer = room.clock.after(leaseMs / 3, () => {
      renewal = claim(room, member, mine, leaseMs).then(
        (isMine) => (isMine ? renewLater() : onLost()),
        (error: unknown) => {
          if (!(error instanceof HeimdallError)) throw error
          // An engine that is away takes it from nobody; the next renewal may reach it.
          note(`dispatch: ${error.message}`)
          renewLater()
        },
      )
    })
  }
  renewLater()
  signal.addEventListener('abort', () => timer?.cancel())
  return {
    async release() {
      isReleased = true
      timer?.cancel()
      // One that is under way would take it again behind its end.
      await renewal
      await changeAsOther(room, { kind: 'system' }, ({ rows }) => {
        if (heldIn(rows.setting(ORCHESTRATOR_SETTING))?.holder === mine.holder)
          rows.putSetting(ORCHESTRATOR_SETTING, '')
      })
    },
  }
}

/** Taken, or renewed: a renewal puts nothing, and is only heard by the engine. */
function claim(room: Coordination, { member }: Membership, mine: Held, leaseMs: number): Promise<boolean> {
  return changeAsOther(room, { kind: 'system' }, ({ rows, now }) => {
    const held = heldIn(rows.setting(ORCHESTRATOR_SETTING))
    if (held !== undefined && held.holder !== mine.holder && held.machine !== member) {
      const last = rows.lastSign(orchestratorSign(held.holder))
      if (last === undefined || sinceMs(last, now) < leaseMs) return false
    }
    rows.putSetting(ORCHESTRATOR_SETTING, JSON.stringify(mine))
    rows.sign(orchestratorSign(mine.holder))
    return true
  })
}

const heldIn = (text: string | undefined): Held | undefined =>
  text === undefined || text === '' ? undefined : (JSON.parse(text) as Held)
