// Many byte strings found at once: one regular expression finds where one may begin.
import type { Form } from './forms.ts'

/** As much of each as the expression holds; the rest is compared. A value may be a file of many KiB. */
const HEAD = 16

/** A form as a string with one character for each byte. */
interface Needle {
  readonly text: string
  readonly ignoresCase: boolean
}

export class Needles {
  readonly #heads: RegExp
  /** By their first character, longest first. */
  readonly #byFirst = new Map<string, Needle[]>()
  readonly #longest: number

  constructor(forms: readonly Form[]) {
    const needles = forms
      .map(({ bytes, ignoresCase }): Needle => ({ text: bytes.toString('latin1'), ignoresCase }))
      .sort((a, b) => b.text.length - a.text.length)
    this.#longest = needles[0]?.text.length ?? 0
    for (const needle of needles)
      for (const first of new Set(spellingsOf(needle.text.slice(0, 1), needle.ignoresCase)))
        this.#byFirst.set(first, [...(this.#byFirst.get(first) ?? []), needle])
    const heads = new Set(needles.map(({ text, ignoresCase }) => patternOf(text.slice(0, HEAD), ignoresCase)))
    // Without needles nothing is found.
    this.#heads = new RegExp(heads.size === 0 ? '(?!)' : [...heads].join('|'), 'g')
  }

  /** Every place where one of them is, in order; of several that begin at one place the longest. */
  find(bytes: Buffer, onFound: (from: number, to: number) => void): void {
    const text = bytes.toString('latin1')
    this.#heads.lastIndex = 0
    for (let match = this.#heads.exec(text); match !== null; match = this.#heads.exec(text)) {
      const { index } = match
      const found = this.#startingWith(text, index).find((needle) => isAt(text, index, needle))
      if (found !== undefined) onFound(index, index + found.text.length)
      // Another may begin inside it.
      this.#heads.lastIndex = index + 1
    }
  }

  /** How many of the last bytes could be the beginning of one of them. */
  begun(bytes: Buffer): number {
    const tail = bytes.toString('latin1', Math.max(0, bytes.length - this.#longest + 1))
    for (let at = 0; at < tail.length; at += 1) {
      const left = tail.length - at
      if (
        this.#startingWith(tail, at).some(({ text, ignoresCase }) => {
          return text.length > left && isAt(tail, at, { text: text.slice(0, left), ignoresCase })
        })
      )
        return left
    }
    return 0
  }

  #startingWith(text: string, at: number): readonly Needle[] {
    return this.#byFirst.get(text.charAt(at)) ?? []
  }
}

function isAt(text: string, at: number, needle: Needle): boolean {
  if (!needle.ignoresCase) return text.startsWith(needle.text, at)
  const head = text.slice(at, at + Math.min(HEAD, needle.text.length)).toLowerCase()
  // The rest of a long one is copied only where it may begin.
  return needle.text.startsWith(head) && text.slice(at, at + needle.text.length).toLowerCase() === needle.text
}

const spellingsOf = (text: string, ignoresCase: boolean): readonly string[] =>
  ignoresCase ? [text, text.toUpperCase()] : [text]

function patternOf(text: string, ignoresCase: boolean): string {
  return text.replace(/[^0-9]/g, (char) => {
    if (!/[a-zA-Z]/.test(char)) return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
    return ignoresCase ? `[${char}${char.toUpperCase()}]` : char
  })
}
