// The run of a shim alone, in a stream of its own: to stderr, a pipe or a plain file. Its fold lives in memory.
import type { Clock } from '../clock.ts'
import { EventText } from '../events/event-text.ts'
import type { RunStart } from '../events/types.ts'
import type { Record } from './record.ts'
import { RunFold } from './run-fold.ts'
import { momentOf, recordedMoment } from './run-moment.ts'
import { summaryOf } from './run-totals.ts'

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Its own numbers, its own start and end. `out` takes whole lines and nothing else of the buffer's life, or returns false
 * when it is full; it takes no line at all only when all it took before has gone out.
 */
export function soloRecord(
  text: EventText,
  start: RunStart,
  clock: Clock,
  out: (lines: Buffer) => boolean,
  fold = new RunFold(),
): Record {
  const own = new EventText(text.identity, () => clock.wallMs())
  const started = momentOf(clock)
  let hasStarted = false
  let end: Buffer | undefined
  const put = (act: () => void): Buffer | undefined => {
    own.lines.clear()
    act()
    const bytes = own.lines.encode()
    if (!out(bytes)) return undefined
    fold.written(own.lines.events)
    return bytes
  }
  const begin = (): boolean => {
    hasStarted ||= put(() => own.runStart({ ...start, segment: 1 }, undefined, recordedMoment(started))) !== undefined
    return hasStarted
  }
  return {
    opening: NOTHING,
    fold,
    write(lines, decide) {
      if (!begin()) return undefined
      decide?.()
      fold.number(lines.events)
      const bytes = lines.encode()
      if (!out(bytes)) return undefined
      fold.written(lines.events)
      return bytes
    },
    refresh() {},
    isDelivered: () => out(NOTHING),
    leave(status, eventsLost) {
      if (end === undefined && begin()) {
        const now = momentOf(clock)
        const summary = summaryOf({ ...fold.totals, eventsLost }, now)
        end = put(() => own.runEnd(status, new Date(now.wallMs).toISOString(), fold.totals.segment, summary))
      }
      // A pipe may be closed only when it has sent all that it took.
      return end !== undefined && out(NOTHING) ? end : undefined
    },
    close() {},
  }
}
