// The checks of a doctor as text: problems with their fixes, then a summary.
import { escapeControls } from '../../ids.ts'
import { foldText } from './fold.ts'
import type { Style } from './style.ts'

interface Check {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix: string | null
  readonly fixed?: true
}

const COMMAND = /^(chmod|codex|git|heimdall|ls|mv|npm|sqlite3) /

/** Folded for the terminal, except commands in a fix, which stay on one line so that they can be pasted. */
export function checkLines(style: Style, checks: readonly Check[], all: boolean): string {
  const { color, isTty, columns } = style
  const paint = { ok: color.green, warn: color.yellow, fail: color.red }
  const folded = (text: string): string => (isTty ? foldText(text, columns) : text)
  const shown = checks.filter(({ state, fixed }) => all || state !== 'ok' || fixed === true)
  const lines = shown.flatMap(({ check, state, found, fix, fixed }) => {
    const [first = '', ...rest] = folded(
      `${state.padEnd(4)}  ${check}: ${fixed === true ? 'fixed; ' : ''}${escapeControls(found)}`,
    ).split('\n')
    const head = [paint[state](first.slice(0, 4)) + first.slice(4), ...rest]
    if (fix === null) return head
    const [, words = '', last = ''] = /^(.*: |)(.*)$/.exec(escapeControls(fix)) ?? []
    const isCommand = COMMAND.test(last)
    const prose = isCommand ? words.trimEnd() : words + last
    return [
      ...head,
      ...(prose === '' ? [] : [folded(`      ${prose}`)]),
      ...(isCommand ? [`      ${color.bold(last)}`] : []),
    ]
  })
  const count = (state: Check['state']): number => checks.filter((one) => one.state === state).length
  const summary = [
    ...(count('fail') === 0 ? [] : [color.red(`${count('fail')} failed`)]),
    ...(count('warn') === 0 ? [] : [color.yellow(`${count('warn')} ${count('warn') === 1 ? 'warning' : 'warnings'}`)]),
    color.green(`${count('ok')} ok`),
  ]
  return [...lines, summary.join(', ')].join('\n')
}
