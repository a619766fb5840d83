// The keys of `heimdall top`, as its last line names them.
import { fit, wholeParts } from '../../render/columns.ts'
import { markOf } from '../../render/fleet-text.ts'
import type { BoardView } from './board.ts'

/** Whole keys fall away where there is no room; how to leave, and where the rest is explained, stays. */
export function keysText({ look, cols, filter, isFiltering, sort }: BoardView): string {
  if (isFiltering) return fit(` /${filter}_   Enter keeps it   Esc shows all`, cols, markOf(look))
  const keys = [
    `${look.hasGlyphs ? '↑↓' : 'j k'} move`,
    `${look.hasGlyphs ? '↵' : 'Enter'} attach`,
    '1-9 answer',
    // What hides others is said for as long as it does.
    ...(filter === '' ? [] : [`/ filter (${filter})`]),
    'z later',
    'p peek',
    'w why',
    'c claims',
    'd decisions',
    ...(filter === '' ? ['/ filter'] : []),
    `s sort: ${sort}`,
  ]
  return fit(` ${wholeParts(keys, cols - 1, { gap: '   ', kept: ['? keys', 'q quit'] })}`, cols, markOf(look))
}
