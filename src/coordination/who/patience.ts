// How long an agent may be silent in this repository: one number for all, changed by people (seed 002 §4.1).
import { HeimdallError } from '../../errors.ts'
import { LEASE_MINUTES_MAX } from '../../limits.ts'
import { STALE_SETTING, storedStaleMinutes } from './alive.ts'
import type { Coordination } from '../coordination.ts'
import { type Actor, changeAsOther } from '../change.ts'

/** Returns what it was before. */
export async function setStaleMinutes(
  room: Coordination,
  person: Extract<Actor, { kind: 'human' }>,
  minutes: number,
): Promise<number | undefined> {
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > LEASE_MINUTES_MAX)
    throw new HeimdallError('INVALID_ARGS', `${minutes} minutes of silence, 1 to ${LEASE_MINUTES_MAX} allowed`)
  return changeAsOther(room, person, ({ rows, record }) => {
    const was = storedStaleMinutes(rows)
    rows.putSetting(STALE_SETTING, String(minutes))
    record({ type: 'SETTING', payload: { key: 'agent_stale_minutes', value: minutes, was: was ?? null } })
    return was
  })
}
