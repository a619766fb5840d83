// The setting by which a human drains a worker of this machine: `heimdall worker drain` writes it, the worker follows it.
import { changeAsOther } from '../../coordination/change.ts'
import type { Coordination } from '../../coordination/coordination.ts'

export const drainSetting = (workerId: string): string => `worker:${workerId}:drain`

export async function drainWorker(room: Coordination, workerId: string): Promise<void> {
  await changeAsOther(room, { kind: 'system' }, ({ rows, now }) =>
    rows.putSetting(drainSetting(workerId), String(now.wallMs)),
  )
}
