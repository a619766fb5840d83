// One check of a doctor as a line for people, and below it what to do.
import { escapeControls } from '../../ids.ts'
import type { Check } from '../doctor.ts'
import type { Style } from './style.ts'

export function checkLine(style: Style, { check, state, found, fix }: Check): string {
  const paint = { ok: style.color.green, warn: style.color.yellow, fail: style.color.red }[state]
  return `${paint(state.padEnd(4))}  ${check.padEnd(14)}  ${escapeControls(found)}${fix === null ? '' : `\n      ${' '.repeat(14)}  fix: ${escapeControls(fix)}`}`
}
