// Colours as a terminal reports them: the usual 256 and those of text, background and cursor, until the program sets others. Pure.
import { parseColor } from './color.ts'

const WHITE = 0xff_ff_ff
const BLACK = 0x00_00_00

const BASE = [
  0x00_00_00, 0xcd_00_00, 0x00_cd_00, 0xcd_cd_00, 0x00_00_ee, 0xcd_00_cd, 0x00_cd_cd, 0xe5_e5_e5, 0x7f_7f_7f,
  0xff_00_00, 0x00_ff_00, 0xff_ff_00, 0x5c_5c_ff, 0xff_00_ff, 0x00_ff_ff, 0xff_ff_ff,
]
const LEVELS = [0, 95, 135, 175, 215, 255]

function usual(index: number): number {
  if (index < 16) return BASE[index] ?? 0
  if (index >= 232) return (8 + (index - 232) * 10) * 0x01_01_01
  const level = (divisor: number): number => LEVELS[Math.floor((index - 16) / divisor) % 6] ?? 0
  return (level(36) << 16) | (level(6) << 8) | level(1)
}

const written = (color: number): string =>
  `rgb:${[16, 8, 0].map((shift) => ((color >>> shift) & 0xff).toString(16).padStart(2, '0').repeat(2)).join('/')}`

export class Palette {
  /** Text, background and cursor, as the number of the command that sets and asks for them: as they are at first. */
  readonly #initial = new Map([
    [10, WHITE],
    [11, BLACK],
    [12, WHITE],
  ])
  readonly #special = new Map<number, number>()
  readonly #indexed = new Map<number, number>()

  /** The terminal has other colours than the usual. */
  own(foreground: string, background: string): void {
    this.#initial.set(10, parseColor(foreground) ?? WHITE)
    this.#initial.set(11, parseColor(background) ?? BLACK)
    this.#initial.set(12, parseColor(foreground) ?? WHITE)
  }

  /** Takes what a colour command sets, and answers what it asks; nothing when it asks nothing. */
  answer(code: number, text: string): string | undefined {
    const answers = code === 4 ? this.#takeIndexed(text.split(';')) : this.#takeSpecial(code, text.split(';'))
    return answers === '' ? undefined : answers
  }

  /** OSC 104 with indexes or without, and 110 to 112: as it was at first. */
  reset(code: number, text: string): void {
    if (code !== 104) this.#special.delete(code - 100)
    else if (text === '') this.#indexed.clear()
    else for (const index of text.split(';')) this.#indexed.delete(Number(index))
  }

  /** `index;colour`, any number of times. */
  #takeIndexed(parts: readonly string[]): string {
    let answers = ''
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const index = Number(parts[at])
      if (!/^\d{1,3}$/.test(parts[at] ?? '') || index > 255) continue
      const color = parseColor(parts[at + 1] ?? '')
      if (color !== undefined) this.#indexed.set(index, color)
      else if (parts[at + 1] === '?')
        answers += `\x1b]4;${index};${written(this.#indexed.get(index) ?? usual(index))}\x1b\\`
    }
    return answers
  }

  /** Each further colour belongs to the next command: `10;?;?` asks for text and background. */
  #takeSpecial(first: number, parts: readonly string[]): string {
    let answers = ''
    for (const [at, part] of parts.entries()) {
      const code = first + at
      const initial = this.#initial.get(code)
      if (initial === undefined) break
      const color = parseColor(part)
      if (color !== undefined) this.#special.set(code, color)
      else if (part === '?') answers += `\x1b]${code};${written(this.#special.get(code) ?? initial)}\x1b\\`
    }
    return answers
  }
}
