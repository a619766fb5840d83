// The lanes of a run on a canvas: calls, waits, decisions, notes and claims on one axis that zooms.
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import type { TimelineSpan } from '../../../src/hub/contract.ts'
import { useMarks } from '../components/agent-mark.tsx'
import { fitting } from '../components/fitting.ts'
import { age } from '../components/format.ts'
import { penOf } from '../components/canvas.ts'
import { inSight, type Lane, type LaneMark, markAt, namesPx, type LaneView, xOf } from './lanes.ts'
import { useTheme } from '../data/preferences.ts'
import css from './timeline.module.css'

const AXIS_PX = 24
const FONT = '11px "Inter Variable", sans-serif'
const STEPS_MS = [1e3, 5e3, 15e3, 30e3, 60e3, 300e3, 600e3, 1.8e6, 3.6e6, 7.2e6, 2.16e7, 4.32e7, 8.64e7]

interface LanesCanvasProps {
  readonly lanes: readonly Lane[]
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number | null
  readonly holder: string
  readonly selected: TimelineSpan | null
  readonly isCompact: boolean
  readonly onSelect: (span: TimelineSpan) => void
  readonly onZoom: (factor: number, atMs: number) => void
}

export function LanesCanvas(props: LanesCanvasProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { hueOf } = useMarks()
  const theme = useTheme()
  const scale = props.isCompact ? 0.72 : 1
  const height = AXIS_PX + Math.ceil(((props.lanes.at(-1)?.top ?? 0) + (props.lanes.at(-1)?.height ?? 0)) * scale) + 4

  const redraw = useEffectEvent((element: HTMLCanvasElement) =>
    draw(element, props, { scale, hue: hueOf(props.holder), isLight: theme === 'light' }),
  )
  const zoom = useEffectEvent((element: HTMLCanvasElement, event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaY) < Math.abs(event.deltaX)) return
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return
    event.preventDefault()
    const view = viewOf(element, props)
    const atMs = view.fromMs + ((event.offsetX - namesPx(element.clientWidth)) / view.width) * (view.toMs - view.fromMs)
    props.onZoom(event.deltaY < 0 ? 0.8 : 1.25, atMs)
  })
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const sizes = new ResizeObserver(() => redraw(element))
    sizes.observe(element)
    // React listens to wheel events passively, so that they could not be prevented.
    const onWheel = (event: WheelEvent): void => zoom(element, event)
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      sizes.disconnect()
      element.removeEventListener('wheel', onWheel)
    }
  }, [])
  useEffect(() => {
    if (canvas.current !== null) redraw(canvas.current)
  }, [props.lanes, props.fromMs, props.toMs, props.selected, props.nowMs, hueOf, theme, scale])

  const pick = (event: React.MouseEvent<HTMLCanvasElement>): LaneMark | undefined => {
    const view = viewOf(event.currentTarget, props)
    const y = (event.nativeEvent.offsetY - AXIS_PX) / scale
    const lane = props.lanes.find(({ top, height }) => y >= top && y < top + height)
    return lane === undefined
      ? undefined
      : markAt(lane, view, event.nativeEvent.offsetX - namesPx(event.currentTarget.clientWidth))
  }
  const marks = props.lanes.reduce((sum, lane) => sum + lane.marks.length, 0)
  return (
    <canvas
      ref={canvas}
      className={css.lanes}
      style={{ height }}
      role="img"
      aria-label={`${marks} marks in ${props.lanes.length} lanes; those that are not plain calls are listed below`}
      onClick={(event) => {
        const mark = pick(event)
        if (mark !== undefined) props.onSelect(mark.span)
      }}
      onMouseMove={(event) => {
        const mark = pick(event)
        event.currentTarget.title = mark?.span.label ?? ''
      }}
    />
  )
}

const viewOf = (element: HTMLElement, { fromMs, toMs }: LanesCanvasProps): LaneView => ({
  fromMs,
  toMs,
  width: Math.max(1, element.clientWidth - namesPx(element.clientWidth) - 8),
})

interface Look {
  readonly scale: number
  /** Of the holder of the claims. */
  readonly hue: number
  readonly isLight: boolean
}

function draw(element: HTMLCanvasElement, props: LanesCanvasProps, { scale, hue, isLight }: Look): void {
  const { clientWidth, clientHeight } = element
  const drawing = penOf(element)
  if (drawing === null) return
  const { pen, color } = drawing
  const view = viewOf(element, props)
  const left = namesPx(element.clientWidth)
  const ink: Ink = { color, holder: holderColor(hue, color), isLight }
  pen.font = `400 ${FONT}`
  pen.textBaseline = 'middle'
  axis(pen, { view, left, height: clientHeight }, ink)
  for (const lane of props.lanes) {
    const top = AXIS_PX + lane.top * scale
    const height = lane.height * scale
    if (lane.name !== '') {
      pen.fillStyle = color('line')
      pen.fillRect(0, top, clientWidth, 1)
    }
    if (lane.name !== '') nameOf(pen, lane, { left, middle: top + height / 2, color })
    pen.save()
    pen.beginPath()
    pen.rect(left - 8, top, view.width + 16, height)
    pen.clip()
    pen.translate(left, 0)
    const those = [...inSight(lane, view)]
    those.forEach(({ mark, x, w }, place) => {
      const room = (those[place + 1]?.x ?? view.width) - x
      one(pen, { mark, x, w, room, top, height, ink, isSelected: mark.span === props.selected })
    })
    pen.restore()
  }
  if (props.selected !== null) through(pen, left + xOf(view, Date.parse(props.selected.from)), left, clientHeight, ink)
  if (props.nowMs !== null && props.nowMs >= view.fromMs && props.nowMs <= view.toMs) {
    pen.fillStyle = color('work')
    pen.fillRect(left + xOf(view, props.nowMs), AXIS_PX, 1.5, clientHeight)
  }
}

interface NamePlace {
  readonly left: number
  readonly middle: number
  readonly color: Ink['color']
}

/** Calls have many lanes, and the eye is to find the others first. */
function nameOf(pen: CanvasRenderingContext2D, { lane, name }: Lane, { left, middle, color }: NamePlace): void {
  pen.font = `${lane === 'call' ? 400 : 600} ${FONT}`
  pen.fillStyle = color(lane === 'call' ? 'text2' : 'text')
  pen.fillText(fitting(pen, name, left - 10), 2, middle)
  pen.font = `400 ${FONT}`
}

/** What else there was at the time of what is selected. */
function through(pen: CanvasRenderingContext2D, x: number, left: number, height: number, { color }: Ink): void {
  if (x < left) return
  pen.strokeStyle = color('text2')
  pen.setLineDash([2, 3])
  pen.beginPath()
  pen.moveTo(Math.round(x) + 0.5, AXIS_PX)
  pen.lineTo(Math.round(x) + 0.5, height)
  pen.stroke()
  pen.setLineDash([])
}

interface Ink {
  readonly color: (name: string) => string
  readonly holder: { readonly fill: string; readonly ink: string }
  readonly isLight: boolean
}

function holderColor(hue: number, color: (name: string) => string): Ink['holder'] {
  return {
    fill: `oklch(${color('holder-fill-l')} ${color('holder-fill-c')} ${hue})`,
    ink: `oklch(${color('holder-ink-l')} ${color('holder-ink-c')} ${hue})`,
  }
}

interface Axis {
  readonly view: LaneView
  readonly left: number
  readonly height: number
}

function axis(pen: CanvasRenderingContext2D, { view, left, height }: Axis, { color }: Ink): void {
  const perLabel = ((view.toMs - view.fromMs) / view.width) * 90
  const step = STEPS_MS.find((each) => each >= perLabel) ?? Math.ceil(perLabel / 8.64e7) * 8.64e7
  for (let at = Math.ceil(view.fromMs / step) * step; at <= view.toMs; at += step) {
    const x = left + xOf(view, at)
    pen.fillStyle = color('line')
    pen.fillRect(x, AXIS_PX - 4, 1, height)
    pen.fillStyle = color('text3')
    const time = new Date(at)
    const text = time.toTimeString().slice(0, step < 60e3 ? 8 : 5)
    // One that would be cut says less than none.
    if (x + 3 + pen.measureText(text).width <= left + view.width) pen.fillText(text, x + 3, AXIS_PX / 2)
  }
}

interface Drawn {
  readonly mark: LaneMark
  readonly x: number
  readonly w: number
  /** To the next one of its lane. */
  readonly room: number
  readonly top: number
  readonly height: number
  readonly ink: Ink
  readonly isSelected: boolean
}

function one(pen: CanvasRenderingContext2D, { mark, x, w, room, top, height, ink, isSelected }: Drawn): void {
  const { span } = mark
  const { color } = ink
  const middle = top + height / 2
  if (span.lane === 'state') {
    const isWait = /wait|needs/.test(span.kind)
    pen.fillStyle = isWait ? color('lamp-fill') : /work/.test(span.kind) ? color('work') : color('line')
    const tall = isWait ? height - 8 : height / 2 - 2
    pen.fillRect(x, middle - tall / 2, w, tall)
    if (isWait) {
      pen.fillStyle = color('lamp-ink')
      const text = [span.label, age(mark.toMs - mark.fromMs)].find((each) => pen.measureText(each).width <= w - 12)
      if (text !== undefined) pen.fillText(text, x + 6, middle)
      else if (w > 120) pen.fillText(fitting(pen, span.label, w - 12), x + 6, middle)
    }
  } else if (span.lane === 'call') {
    pen.fillStyle = color('text3')
    pen.fillRect(x, top + 6, w, height - 12)
  } else if (span.lane === 'claim') {
    pen.fillStyle = ink.holder.fill
    pen.fillRect(x, top + 3, w, height - 6)
    pen.fillStyle = ink.holder.ink
    if (w > 60) pen.fillText(fitting(pen, span.label, w - 10), x + 6, middle)
  } else {
    pen.fillStyle = /refused|blocked|ended|incursion/i.test(span.kind)
      ? color('clash')
      : span.label.startsWith('Needs input')
        ? color('lamp')
        : color('text2')
    glyph(pen, span, x, middle)
    if (span.lane === 'note') pen.fillText(fitting(pen, span.label, Math.min(180, room - 22)), x + 11, middle)
  }
  if (!isSelected) return
  pen.strokeStyle = color('focus')
  pen.lineWidth = 2
  pen.beginPath()
  // What has no length is drawn around its place.
  if (span.lane === 'decision' || span.lane === 'note') pen.arc(x, middle, 11, 0, Math.PI * 2)
  else pen.rect(x - 3, top + 2, Math.max(12, w + 6), height - 4)
  pen.stroke()
  pen.lineWidth = 1
}

/** Told apart by shape: a bow for an incursion, bars for what was throttled, a corner for what was refused. */
function glyph(pen: CanvasRenderingContext2D, { lane, kind, label }: TimelineSpan, x: number, y: number): void {
  if (/incursion/i.test(kind)) {
    pen.beginPath()
    pen.moveTo(x - 4, y - 4)
    pen.lineTo(x + 4, y + 4)
    pen.lineTo(x + 4, y - 4)
    pen.lineTo(x - 4, y + 4)
    pen.fill()
  } else if (/throttled/.test(kind)) {
    pen.fillRect(x - 3, y - 5, 2, 10)
    pen.fillRect(x + 1, y - 5, 2, 10)
  } else if (/refused|blocked|ended/.test(kind)) {
    // A circle with a bar for blocked, a square for an ended run, an arrow that turns back for a hint.
    pen.strokeStyle = pen.fillStyle
    pen.lineWidth = 1.6
    pen.beginPath()
    if (/ended/.test(kind)) pen.fillRect(x - 4, y - 4, 8, 8)
    else if (/blocked/.test(kind)) {
      pen.arc(x, y, 5, 0, Math.PI * 2)
      pen.moveTo(x - 3.5, y - 3.5)
      pen.lineTo(x + 3.5, y + 3.5)
    } else {
      pen.moveTo(x - 2, y - 5)
      pen.lineTo(x - 5, y - 2)
      pen.lineTo(x - 2, y + 1)
      pen.moveTo(x - 5, y - 2)
      pen.lineTo(x + 2, y - 2)
      pen.arc(x + 2, y + 1.5, 3.5, -Math.PI / 2, Math.PI / 2)
      pen.lineTo(x, y + 5)
    }
    pen.stroke()
    pen.lineWidth = 1
  } else if (lane === 'note' && label.startsWith('Needs input')) {
    pen.beginPath()
    pen.moveTo(x, y - 5)
    pen.lineTo(x + 5, y)
    pen.lineTo(x, y + 5)
    pen.lineTo(x - 5, y)
    pen.fill()
  } else if (lane === 'note') {
    pen.strokeStyle = pen.fillStyle
    pen.lineWidth = 1.4
    pen.beginPath()
    if (label.startsWith('Resume')) {
      pen.arc(x, y, 4, -Math.PI * 0.75, Math.PI)
      pen.moveTo(x - 5, y - 5)
      pen.lineTo(x - 3, y - 3)
      pen.lineTo(x, y - 3.5)
    } else {
      pen.moveTo(x - 5, y)
      pen.lineTo(x + 4, y)
      pen.moveTo(x + 1, y - 3)
      pen.lineTo(x + 4, y)
      pen.lineTo(x + 1, y + 3)
    }
    pen.stroke()
    pen.lineWidth = 1
  } else pen.fillRect(x - 2, y - 4, 4, 8)
}
