// Colour and tables for people; plain text for pipes.
import { escapeControls } from '../../ids.ts'
import type { Env } from '../../paths.ts'
import { type Colors, createColors } from './colors.ts'

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
 * Aligned columns on a terminal, tab-separated in a pipe; under a header in both, since agents read pipes. What others
 * have written stands in most of them: no cell has anything in it that a terminal obeys, or that begins another cell.
 */
export function renderTable(style: Style, header: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(escapeControls))
  if (!style.isTty) return [header, ...rows].map((row) => row.join('\t')).join('\n')
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [style.color.dim(line(header)), ...rows.map(line)].join('\n')
}
