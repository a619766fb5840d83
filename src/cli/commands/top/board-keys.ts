// The keys of `heimdall top`, as its last line names them and as `?` explains them.
import { fit, wholeParts } from '../../render/columns.ts'
import { markOf } from '../../render/fleet-text.ts'
import type { BoardView } from './board.ts'

export const HELP: readonly (readonly [keys: string, does: string])[] = [
  ['1-9', 'answers what the selected one asks, with the choice of that number'],
  ['t Enter', 'its terminal; back when it goes on, or with Ctrl-\\'],
  ['z', 'puts its wait off for a quarter of an hour'],
  ['p w', 'its screen; who holds what it holds'],
  ['c d', 'all claims; decisions on its calls'],
  ['/ s', 'filters by words; sorts by who needs you, name, cost'],
]

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
