// The whole run in one strip above the lanes: where it called, waited and was refused, and which part of it is looked at. The part is taken by its ends or its middle.
import { type PointerEvent, type ReactNode, useEffect, useRef } from 'react'
import { penOf } from '../components/canvas.ts'
import { useTheme } from '../data/preferences.ts'
import { inSight, type Lane, type TimeRange } from './lanes.ts'
import css from './timeline.module.css'

const HEIGHT_PX = 24
/** How near to an end of the part the pointer takes it. */
const GRIP_PX = 8
const SHORTEST_MS = 1_000

interface OverviewProps {
  /** Of the whole run, whatever part of it is looked at. */
  readonly lanes: readonly Lane[]
  readonly run: TimeRange
  readonly shown: TimeRange
  /** While it is drawn to another place. */
  readonly onDrag: (range: TimeRange) => void
  readonly onLook: (range: TimeRange) => void
  readonly onWhole: () => void
}

type Grip = 'from' | 'to' | 'both'

export function Overview({ lanes, run, shown, onDrag, onLook, onWhole }: OverviewProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const theme = useTheme()
  const held = useRef<{ readonly grip: Grip; readonly atMs: number; readonly range: TimeRange } | undefined>(undefined)
  // Drawn when the run has changed, and not when another part of it is looked at.
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const redraw = (): void => draw(element, lanes, run)
    redraw()
    const sizes = new ResizeObserver(redraw)
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [lanes, run.fromMs, run.toMs, theme])

  const lengthMs = Math.max(1, run.toMs - run.fromMs)
  const share = (atMs: number): number => Math.min(1, Math.max(0, (atMs - run.fromMs) / lengthMs))
  const [left, right] = [share(shown.fromMs), share(shown.toMs)]
  const timeAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const box = currentTarget.getBoundingClientRect()
    return run.fromMs + ((clientX - box.left) / Math.max(1, box.width)) * lengthMs
  }
  const take = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button !== 0) return
    const atMs = timeAt(event)
    const nearMs = (GRIP_PX / Math.max(1, event.currentTarget.clientWidth)) * lengthMs
    const isInside = atMs > shown.fromMs - nearMs && atMs < shown.toMs + nearMs
    // A press outside of the range moves the range there.
    const halfMs = (shown.toMs - shown.fromMs) / 2
    const range = isInside ? shown : within({ fromMs: atMs - halfMs, toMs: atMs + halfMs }, run)
    held.current = { grip: isInside ? gripAt(atMs, shown, nearMs) : 'both', atMs, range }
    event.currentTarget.setPointerCapture(event.pointerId)
    if (!isInside) onDrag(range)
  }
  const moved = (event: PointerEvent<HTMLDivElement>): TimeRange | undefined =>
    held.current === undefined
      ? undefined
      : drawnTo(held.current.range, held.current.grip, timeAt(event) - held.current.atMs, run)
  const drop = (event: PointerEvent<HTMLDivElement>): void => {
    const range = moved(event)
    held.current = undefined
    if (range !== undefined) onLook(range)
  }
  return (
    <div
      className={css.overview}
      aria-hidden="true"
      title="The whole run: take an end of the frame to look closer, its middle to move, press twice for all of it"
      onPointerDown={take}
      onPointerMove={(event) => {
        const range = moved(event)
        if (range !== undefined) onDrag(range)
      }}
      onPointerUp={drop}
      onPointerCancel={drop}
      onDoubleClick={onWhole}
    >
      <canvas ref={canvas} style={{ height: HEIGHT_PX }} />
      <div className={css.overviewPart} style={{ left: `${left * 100}%`, right: `${(1 - right) * 100}%` }}>
        <i />
        <i />
      </div>
    </div>
  )
}

function gripAt(atMs: number, { fromMs, toMs }: TimeRange, nearMs: number): Grip {
  const [before, after] = [Math.abs(atMs - fromMs), Math.abs(atMs - toMs)]
  if (Math.min(before, after) > nearMs) return 'both'
  return before <= after ? 'from' : 'to'
}

/** As long as it was, and inside the run. */
function within({ fromMs, toMs }: TimeRange, run: TimeRange): TimeRange {
  const offMs = Math.max(0, run.fromMs - fromMs) - Math.max(0, toMs - run.toMs)
  return { fromMs: Math.max(run.fromMs, fromMs + offMs), toMs: Math.min(run.toMs, toMs + offMs) }
}

function drawnTo({ fromMs, toMs }: TimeRange, grip: Grip, byMs: number, run: TimeRange): TimeRange {
  if (grip === 'both') return within({ fromMs: fromMs + byMs, toMs: toMs + byMs }, run)
  if (grip === 'from') return { fromMs: Math.max(run.fromMs, Math.min(fromMs + byMs, toMs - SHORTEST_MS)), toMs }
  return { fromMs, toMs: Math.min(run.toMs, Math.max(toMs + byMs, fromMs + SHORTEST_MS)) }
}

function draw(element: HTMLCanvasElement, lanes: readonly Lane[], run: TimeRange): void {
  const drawing = penOf(element)
  if (drawing === null) return
  const { pen, color } = drawing
  const view = { ...run, width: element.clientWidth }
  const calls = lanes.filter(({ lane }) => lane === 'call')
  pen.fillStyle = color('text3')
  // A row of its own for each server, as in the lanes below.
  const step = (HEIGHT_PX - 8) / Math.max(1, calls.length)
  calls.forEach((lane, row) => {
    const tall = Math.max(3, Math.min(7, step - 1))
    const top = 4 + row * step + Math.max(0, (step - tall) / 2)
    for (const { x, w } of inSight(lane, view)) pen.fillRect(x, top, Math.max(1, w - 1), tall)
  })
  for (const lane of lanes)
    for (const { mark, x, w } of inSight(lane, view)) {
      const { lane: of, kind } = mark.span
      if (of === 'state' && /wait|needs/.test(kind)) {
        pen.fillStyle = color('lamp-fill')
        pen.fillRect(x, 3, w, HEIGHT_PX - 6)
      } else if (of === 'decision' && /refused|blocked|ended/.test(kind)) {
        pen.fillStyle = color('clash')
        pen.fillRect(x - 1, 3, 2, HEIGHT_PX - 6)
      }
    }
}
