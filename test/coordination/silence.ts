// An agent that has been silent for longer than the eviction time, without waiting for it.
import type { Coordination } from '../../src/coordination/coordination.ts'
import { MINUTE } from './room.ts'

export async function silence(room: Coordination, haid: string, minutes = 31): Promise<void> {
  await room.store.change((rows) => {
    const agent = rows.agent(haid)
    if (agent === undefined) throw new Error(`no agent ${haid}`)
    const { at, count } = agent.beat
    rows.putBeat(haid, { count, at: { ...at, monoMs: room.now().monoMs - minutes * MINUTE } })
  })
}
