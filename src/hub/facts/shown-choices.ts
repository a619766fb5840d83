// The choices that a host shows on its screen: `1. Yes` and what follows, as it numbered them. Pure.
import type { ShownChoice } from '../../spine/fleet/choices.ts'
import type { Thumbnail } from '../contract.ts'

const LABEL_CHARS_MAX = 60
const CHOICES_MAX = 9
/** What stands before a number: frames, pointers, bullets and blanks. */
const BEFORE = String.raw`(?:^|[ \t]{2,})[\s│┃|❯›>▸▶→*•○●◉-]*`
const NUMBERED = new RegExp(
  String.raw`${BEFORE}(?<key>[1-9])[.)] +(?<label>\S.*?)(?=[ \t]{2,}[❯›>]? ?[1-9][.)] |[\s│┃|]*$)`,
  'gmu',
)
/** A list that is moved in takes keys as they come. */
const POINTED_AT = /^[\s│┃|]*[❯›>▸▶→●◉]/u
/** One line below a list that waits for another, as a shell's `select` does. */
const PROMPT = /^[^\n]*[?:>#]$/

/** The last list on the screen that begins with 1 and has at least two; nothing where there is none. */
export function choicesOn(lines: Thumbnail['lines']): readonly ShownChoice[] {
  const text = lines.map((line) => line.map(([part]) => part).join('')).join('\n')
  let list: Omit<ShownChoice, 'isLine'>[] = []
  let isPointedAt = false
  let end = 0
  for (const { 0: found, index, groups } of text.matchAll(NUMBERED)) {
    const { key = '', label = '' } = groups ?? {}
    if (key === '1') {
      list = []
      isPointedAt = false
    } else if (key !== String(list.length + 1)) continue
    list.push({ key, label: shortened(label) })
    isPointedAt ||= POINTED_AT.test(found)
    end = index + found.length
  }
  if (list.length < 2) return []
  const isLine = !isPointedAt && PROMPT.test(text.slice(end).trim())
  return list.slice(0, CHOICES_MAX).map((choice) => ({ ...choice, isLine }))
}

function shortened(label: string): string {
  const line = label.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length <= LABEL_CHARS_MAX ? line : `${line.slice(0, LABEL_CHARS_MAX - 1)}…`
}
