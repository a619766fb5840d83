// Now, as a record of several processes needs it: both clocks, and the boot that the monotonic one counts from.
import type { Clock } from '../clock.ts'
import { bootId } from '../boot-id.ts'
import type { RunMoment } from './run-books.ts'

export function momentOf(clock: Clock): RunMoment {
  return { wallMs: clock.wallMs(), monoMs: clock.monoMs(), bootId: bootId() }
}
