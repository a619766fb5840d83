// Signs of agent states, as in the dashboard, with ASCII replacements.
import type { Env } from '../../paths.ts'
import type { AgentState } from '../../spine/fleet/fleet.ts'
import type { Colors } from './colors.ts'

export type Paint = keyof Omit<Colors, 'isColorSupported'>

interface Sign {
  readonly glyph: string
  readonly ascii: string
  /** Yellow: needs the user. Magenta: trouble. Blue: works. */
  readonly color: Paint | null
}

export const SIGNS: Readonly<Record<AgentState, Sign>> = {
  'needs you': { glyph: '◆', ascii: '!', color: 'yellow' },
  collision: { glyph: '⋈', ascii: 'X', color: 'magenta' },
  looping: { glyph: '↻', ascii: '@', color: 'magenta' },
  stuck: { glyph: '↻', ascii: '@', color: 'magenta' },
  lost: { glyph: '◌', ascii: '?', color: 'magenta' },
  stale: { glyph: '◌', ascii: '?', color: null },
  working: { glyph: '●', ascii: '*', color: 'blue' },
  idle: { glyph: '○', ascii: '-', color: null },
  done: { glyph: '✓', ascii: '=', color: null },
  cancelled: { glyph: '■', ascii: '#', color: null },
  failed: { glyph: '✕', ascii: 'x', color: 'magenta' },
}

/** By the locale; the Linux console has no font for them. */
export function showsGlyphs(env: Env): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '')
  return /utf-?8/i.test(locale ?? '') && env['TERM'] !== 'linux' && env['TERM'] !== 'dumb'
}
