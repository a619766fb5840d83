// A table of any length: only the rows in sight are there, and more are asked for when the end comes near.
import { useVirtualizer } from '@tanstack/react-virtual'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { usePreferences } from '../data/preferences.ts'
import { useNarrow } from './media-query.ts'

export interface Column<T> {
  readonly head: string
  /** As in a CSS grid: `80px`, `1fr`. */
  readonly width: string
  /** Its width on a phone; a column without one is left to the page behind the row there. */
  readonly onPhone?: string
  readonly isNumber?: boolean
  readonly cell: (row: T) => ReactNode
}

interface LongTableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly idOf: (row: T) => string
  readonly selected: string | null
  readonly linkOf: (row: T) => Pick<LinkProps, 'to' | 'params' | 'search'>
  readonly onEnd?: () => void
}

const ROW_PX = { compact: 32, comfortable: 40 }
const NEAR_END = 20

export function LongTable<T>({
  label,
  columns: all,
  rows,
  idOf,
  selected,
  linkOf,
  onEnd,
}: LongTableProps<T>): ReactNode {
  const scroll = useRef<HTMLDivElement>(null)
  const density = usePreferences((preferences) => preferences.density)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX[density],
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - NEAR_END) onEnd?.()
  }, [last, rows.length, onEnd])
  useEffect(() => virtual.measure(), [density, virtual])
  const isNarrow = useNarrow()
  const columns = isNarrow ? all.filter(({ onPhone }) => onPhone !== undefined) : all
  const template = {
    gridTemplateColumns: columns.map(({ width, onPhone }) => (isNarrow ? onPhone : width)).join(' '),
  }
  return (
    <div className="long-table" role="table" aria-label={label} aria-rowcount={rows.length}>
      <div role="rowgroup">
        <div className="long-head" role="row" style={template}>
          {columns.map(({ head, isNumber }) => (
            <span key={head} role="columnheader" className={isNumber === true ? 'number' : undefined}>
              {head}
            </span>
          ))}
        </div>
      </div>
      <div className="long-body" role="rowgroup" ref={scroll} tabIndex={0} aria-label={`${label}, rows`}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
          {items.map(({ index, start, size }) => {
            const row = rows[index]
            if (row === undefined) return null
            const id = idOf(row)
            return (
              <div
                key={id}
                role="row"
                aria-rowindex={index + 1}
                className={id === selected ? 'long-row selected' : 'long-row'}
                style={{ ...template, height: size, transform: `translateY(${start}px)` }}
              >
                {columns.map(({ head, cell, isNumber }, place) => (
                  <span key={head} role="cell" className={isNumber === true ? 'number cut' : 'cut'}>
                    {place === 0 ? (
                      <Link
                        {...linkOf(row)}
                        className="long-link"
                        data-row={id}
                        aria-current={id === selected ? 'true' : undefined}
                      >
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </span>
                ))}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
