// The choices that a host shows on its screen: `1. Yes` and what follows, as it numbered them. Pure.
import type { Thumbnail } from '../contract.ts'

export interface ShownChoice {
  /** The key that takes it, there as here. */
  readonly key: string
  readonly label: string
}

const LABEL_CHARS_MAX = 60
const CHOICES_MAX = 9
/** What stands before a number: frames, pointers, bullets and blanks. */
const BEFORE = String.raw`(?:^|[ \t]{2,})[\s│┃|❯›>▸▶→*•○●◉-]*`
const NUMBERED = new RegExp(
  String.raw`${BEFORE}(?<key>[1-9])[.)] +(?<label>\S.*?)(?=[ \t]{2,}[❯›>]? ?[1-9][.)] |[\s│┃|]*$)`,
  'gmu',
)

/** The last list on the screen that begins with 1 and has at least two; nothing where there is none. */
export function choicesOn(lines: Thumbnail['lines']): readonly ShownChoice[] {
  const text = lines.map((line) => line.map(([part]) => part).join('')).join('\n')
  let list: ShownChoice[] = []
  for (const { groups } of text.matchAll(NUMBERED)) {
    const { key = '', label = '' } = groups ?? {}
    if (key === '1') list = []
    else if (key !== String(list.length + 1)) continue
    list.push({ key, label: shortened(label) })
  }
  return list.length < 2 ? [] : list.slice(0, CHOICES_MAX)
}

function shortened(label: string): string {
  const line = label.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length <= LABEL_CHARS_MAX ? line : `${line.slice(0, LABEL_CHARS_MAX - 1)}…`
}
