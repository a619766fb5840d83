// Now, as a record of several processes needs it: both clocks, and the boot that the monotonic one counts from.
import { bootId } from '../boot-id.ts'
import type { Clock } from '../clock.ts'
import type { EventMoment } from '../events/event-text.ts'
import type { BootMoment, RunMoment } from './run-totals.ts'

export function momentOf(clock: Clock): RunMoment {
  return { wallMs: clock.wallMs(), monoMs: Math.floor(clock.monoMs()), bootId: bootId() }
}

/** The same, as events say it. */
export const recordedMoment = ({ monoMs, bootId: boot }: BootMoment): EventMoment => ({
  mono_ms: monoMs,
  boot_id: boot,
})
