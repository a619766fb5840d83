// The map: tiles coloured by holder and marked with its letters, hatched when stale, solid rose where two collide.
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { type MarksOf, useMarks } from '../components/agent-mark.tsx'
import { fitting } from '../components/fitting.ts'
import { plural } from '../components/format.ts'
import { penOf } from '../components/canvas.ts'
import { useTheme } from '../data/preferences.ts'
import { type Holding, holdingOf, type ClaimFacts } from './holding.ts'
import { type TreemapCell, cellAt, layOut } from './treemap.ts'
import type { TreeNode } from './tree.ts'
import css from './claims.module.css'

interface MapCanvasProps {
  readonly root: TreeNode
  readonly facts: ClaimFacts
  readonly selected: string | null
  readonly onSelect: (path: string) => void
}

export function MapCanvas({ root, facts, selected, onSelect }: MapCanvasProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const over = useRef<HTMLDivElement>(null)
  const marks = useMarks()
  const theme = useTheme()
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const sizes = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }))
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [])
  const cells = useMemo(() => (size.width === 0 ? [] : layOut(root, size.width, size.height)), [root, size])
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, { cells, facts, selected, marks })
  }, [cells, facts, selected, marks, theme])
  const at = (event: React.MouseEvent): TreemapCell | undefined =>
    cellAt(cells, event.nativeEvent.offsetX, event.nativeEvent.offsetY)
  // The frame that follows the pointer is an element of its own, so that the map is not drawn again for it.
  const hover = (cell: TreemapCell | undefined): void => {
    const frame = over.current
    if (frame === null) return
    frame.hidden = cell === undefined
    if (cell === undefined) return
    Object.assign(frame.style, { left: `${cell.x}px`, top: `${cell.y}px`, width: `${cell.w}px`, height: `${cell.h}px` })
    if (canvas.current !== null) canvas.current.title = titleOf(cell, holdingOf(cell.node, facts))
  }
  return (
    <div className={css.map}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${plural(root.files, 'file')}, ${plural(root.lines, 'line')}; the tree beside it says the same`}
        onMouseMove={(event) => hover(at(event))}
        onMouseLeave={() => hover(undefined)}
        onClick={(event) => {
          const cell = at(event)
          if (cell !== undefined) onSelect(cell.node.path)
        }}
      />
      <div ref={over} className={css.mapOver} hidden aria-hidden="true" />
    </div>
  )
}

function titleOf({ node }: TreemapCell, { holders, isCollision, isStale }: Holding): string {
  const who = holders.length === 0 ? 'free' : `held by ${holders.join(', ')}${isStale ? ', stale' : ''}`
  return `${node.path}${node.isFile ? '' : `/, ${plural(node.files, 'file')}`}: ${who}${isCollision ? ', collision' : ''}`
}

interface Drawing {
  readonly cells: readonly TreemapCell[]
  readonly facts: ClaimFacts
  readonly selected: string | null
  readonly marks: MarksOf
}

function draw(element: HTMLCanvasElement, { cells, facts, selected, marks }: Drawing): void {
  const drawing = penOf(element)
  if (drawing === null) return
  const { pen, color } = drawing
  pen.textBaseline = 'top'
  for (const cell of cells) {
    const { x, y, w, h, node } = cell
    if (cell.isOpen && cell.depth > 1) continue
    if (cell.isOpen) {
      pen.fillStyle = color('surface')
      pen.strokeStyle = color('line')
      box(pen, x, y, w, h, 4)
      pen.fill()
      pen.stroke()
      pen.fillStyle = color('text')
      pen.font = '600 11px "Inter Variable", sans-serif'
      pen.fillText(fitting(pen, cell.label, w - 8), x + 5, y + 4)
      continue
    }
    const holding = holdingOf(node, facts)
    tile(pen, { cell, holding, color, marks, isSelected: node.path === selected })
  }
}

interface TileOptions {
  readonly cell: TreemapCell
  readonly holding: Holding
  readonly color: (name: string) => string
  readonly marks: MarksOf
  readonly isSelected: boolean
}

function tile(
  pen: CanvasRenderingContext2D,
  { cell: { x, y, w, h, node, label }, holding, color, marks, isSelected }: TileOptions,
): void {
  const [holder] = holding.holders
  const { fill, ink } = colorsOf(holding, color, marks)
  pen.fillStyle = fill
  box(pen, x, y, w, h, 4)
  pen.fill()
  if (holding.isStale && !holding.isCollision) hatch(pen, x, y, w, h, color('edge'))
  if (w > 24 && h > 14) {
    pen.fillStyle = ink
    pen.font = '11px "Inter Variable", sans-serif'
    // Where it is inside its group, as long as there is room for it.
    const name = pen.measureText(label).width <= w - 8 ? label : node.name
    pen.fillText(fitting(pen, name, w - 8), x + 4, y + 4)
    if (holding.isCollision && h > 34) {
      pen.font = '600 11px "Inter Variable", sans-serif'
      pen.fillText(fitting(pen, '⋈ incursion', w - 8), x + 4, y + 18)
    }
    const letters = holding.isCollision
      ? holding.names.map(marks.lettersOf).join(' ⋈ ')
      : holder === undefined
        ? ''
        : marks.lettersOf(holder)
    pen.font = '10.5px "JetBrains Mono Variable", monospace'
    const width = pen.measureText(letters).width
    if (letters !== '' && h > 28 && width < w - 6) pen.fillText(letters, x + w - width - 4, y + h - 15)
  }
  if (!isSelected) return
  pen.strokeStyle = color('focus')
  pen.lineWidth = 2
  box(pen, x + 1, y + 1, w - 2, h - 2, 4)
  pen.stroke()
  pen.lineWidth = 1
}

function colorsOf(
  { holders, isCollision, isStale }: Holding,
  color: (name: string) => string,
  { hueOf }: MarksOf,
): { fill: string; ink: string } {
  const [holder] = holders
  if (isCollision) return { fill: color('clash'), ink: color('clash-ink') }
  if (holder === undefined) return { fill: color('bg'), ink: color('text3') }
  if (isStale) return { fill: color('bg'), ink: color('text') }
  const hue = hueOf(holder)
  return {
    fill: `oklch(${color('holder-fill-l')} ${color('holder-fill-c')} ${hue})`,
    ink: `oklch(${color('holder-ink-l')} ${color('holder-ink-c')} ${hue})`,
  }
}

function box(pen: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, radius: number): void {
  pen.beginPath()
  pen.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2))
}

function hatch(pen: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, ink: string): void {
  pen.save()
  box(pen, x, y, w, h, 4)
  pen.clip()
  pen.strokeStyle = ink
  pen.lineWidth = 3
  pen.globalAlpha = 0.28
  pen.beginPath()
  for (let at = -h; at < w; at += 9) {
    pen.moveTo(x + at, y + h)
    pen.lineTo(x + at + h, y)
  }
  pen.stroke()
  pen.restore()
}
