// Colours, and tables: aligned on a terminal, tab-separated in a pipe.
import { escapeControls } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import { type Colors, createColors } from './colors.ts'
import { fittedLines } from './columns.ts'

export interface Style {
  readonly isTty: boolean
  readonly columns: number
  readonly color: Colors
}

/** `--color` wins, then NO_COLOR, then CLICOLOR_FORCE, then whether the stream is a terminal that can do it. */
export function styleFor(stream: { isTTY?: boolean; columns?: number }, env: Env, flag: boolean | undefined): Style {
  const isTty = stream.isTTY === true
  const forced = env['CLICOLOR_FORCE'] !== undefined && env['CLICOLOR_FORCE'] !== '0'
  const allowed = env['NO_COLOR'] === undefined || env['NO_COLOR'] === ''
  const on = flag ?? (allowed && (forced || (isTty && env['TERM'] !== 'dumb')))
  return { isTty, columns: stream.columns ?? 80, color: createColors(on) }
}

/**
 * Aligned columns on a terminal, tab-separated in a pipe, with a header in both. Control characters are escaped: most
 * cells contain text of agents and other programs.
 */
export function renderTable(style: Style, header: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(escapeControls))
  if (!style.isTty) return [header, ...rows].map((row) => row.join('\t')).join('\n')
  const shown = rows.map((row) => row.map((cell) => (TIME.test(cell) ? localTime(cell) : cell)))
  const [first = '', ...lines] = fittedLines([header, ...shown], style)
  return [style.color.dim(first), ...lines].join('\n')
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `Nov 18 20:42`, local time. */
function localTime(iso: string): string {
  const time = new Date(iso)
  const two = (count: number): string => String(count).padStart(2, '0')
  const clock = [time.getHours(), time.getMinutes()].map(two).join(':')
  return `${MONTHS[time.getMonth()]} ${two(time.getDate())} ${clock}`
}
