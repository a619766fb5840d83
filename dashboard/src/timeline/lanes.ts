// A run as lanes of spans, ready to be drawn at any zoom: sorted once, searched by halves, one mark per pixel at most.
import type { TimelineSpan } from '../../../src/hub/contract.ts'

export interface LaneMark {
  readonly fromMs: number
  readonly toMs: number
  readonly span: TimelineSpan
}

export interface Lane {
  readonly lane: TimelineSpan['lane']
  /** Empty if the lane above has the same name. */
  readonly name: string
  /** By their beginning. */
  readonly marks: readonly LaneMark[]
  /** The longest, so that a search knows how far back one may begin that reaches into the range. */
  readonly longestMs: number
  readonly top: number
  readonly height: number
}

const HEIGHT: Readonly<Record<TimelineSpan['lane'], number>> = {
  state: 34,
  call: 26,
  decision: 32,
  note: 32,
  claim: 22,
}
const NAME: Readonly<Record<TimelineSpan['lane'], string>> = {
  state: 'State',
  call: 'Calls',
  decision: 'Decisions',
  note: 'Notes',
  claim: 'Claims',
}
const ORDER: readonly TimelineSpan['lane'][] = ['state', 'call', 'decision', 'note', 'claim']

/** Calls have a lane for each server and claims one for each scope; the rest one each. */
export function lanesOf(spans: readonly TimelineSpan[], nowMs: number): readonly Lane[] {
  const byTrack = new Map<string, { lane: TimelineSpan['lane']; marks: LaneMark[] }>()
  for (const span of spans) {
    const track = span.lane === 'call' || span.lane === 'claim' ? `${NAME[span.lane]} · ${span.track}` : NAME[span.lane]
    const lane = byTrack.get(track) ?? { lane: span.lane, marks: [] }
    byTrack.set(track, lane)
    const fromMs = Date.parse(span.from)
    lane.marks.push({
      fromMs,
      toMs:
        span.to === null ? (span.lane === 'note' || span.lane === 'decision' ? fromMs : nowMs) : Date.parse(span.to),
      span,
    })
  }
  let top = 0
  let before: TimelineSpan['lane'] | undefined
  return [...byTrack]
    .sort(([one, { lane: a }], [other, { lane: b }]) => ORDER.indexOf(a) - ORDER.indexOf(b) || (one < other ? -1 : 1))
    .map(([track, { lane, marks }]) => {
      // Which scope it is stands on the bar of a claim.
      const name = lane !== 'claim' ? track : before === 'claim' ? '' : NAME.claim
      before = lane
      marks.sort((one, other) => one.fromMs - other.fromMs)
      let longestMs = 0
      for (const { fromMs, toMs } of marks) longestMs = Math.max(longestMs, toMs - fromMs)
      const made = { lane, name, marks, longestMs, top, height: HEIGHT[lane] }
      top += HEIGHT[lane]
      return made
    })
}

/** Index of the first mark that begins at or after `atMs`. */
export function firstFrom(marks: readonly LaneMark[], atMs: number): number {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.fromMs ?? 0) < atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** What the names of lanes take of so many pixels: little where there is little. */
export const namesPx = (width: number): number => (width < 640 ? 84 : 136)

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

export interface LaneView extends TimeRange {
  readonly width: number
}

export const xOf = ({ fromMs, toMs, width }: LaneView, atMs: number): number =>
  ((atMs - fromMs) / Math.max(1, toMs - fromMs)) * width

/**
 * What is to be drawn: marks in sight, and of those that would fall on the pixel of the one before only the first.
 * With a hundred thousand marks the work is bound by the pixels: from a mark that is hidden one jumps to the next pixel.
 */
export function* inSight(
  lane: Lane,
  view: LaneView,
): Generator<{ readonly mark: LaneMark; readonly x: number; readonly w: number }> {
  const msPerPixel = (view.toMs - view.fromMs) / Math.max(1, view.width)
  let index = firstFrom(lane.marks, view.fromMs - lane.longestMs)
  let shownTo = -1
  while (index < lane.marks.length) {
    const mark = lane.marks[index]
    if (mark === undefined || mark.fromMs > view.toMs) return
    const x = Math.max(0, xOf(view, mark.fromMs))
    const end = xOf(view, mark.toMs)
    if (end >= 0 && (end > shownTo || x >= shownTo)) {
      yield { mark, x, w: Math.max(2, Math.min(view.width, end) - x) }
      shownTo = Math.max(shownTo, Math.floor(x) + 1)
    }
    if (mark.toMs - mark.fromMs > msPerPixel || lane.longestMs > msPerPixel * 64) index += 1
    else index = Math.max(index + 1, firstFrom(lane.marks, view.fromMs + shownTo * msPerPixel))
  }
}

/** What is under the pointer, or nearest to it within a few pixels. */
export function markAt(lane: Lane, view: LaneView, x: number): LaneMark | undefined {
  const msPerPixel = (view.toMs - view.fromMs) / Math.max(1, view.width)
  const atMs = view.fromMs + x * msPerPixel
  let best: LaneMark | undefined
  let distance = 6 * msPerPixel
  for (let index = firstFrom(lane.marks, atMs - lane.longestMs - distance); index < lane.marks.length; index++) {
    const mark = lane.marks[index]
    if (mark === undefined || mark.fromMs > atMs + distance) break
    const off = atMs < mark.fromMs ? mark.fromMs - atMs : atMs > mark.toMs ? atMs - mark.toMs : 0
    if (off <= distance) {
      best = mark
      distance = off
    }
  }
  return best
}
