// One word of a shell command, with its quotes and with what the shell puts into it.
import { ansiText } from './ansi-quotes.ts'
import type { ShellValue, ShellValues } from './shell-values.ts'
import type { Word } from './shell-words.ts'
import { WordDraft } from './word-draft.ts'

/** A place in a text. */
export class TextCursor {
  readonly text: string
  at: number

  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** `pattern` is sticky, and stands behind what it matched. */
  isAhead(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    return pattern.test(this.text)
  }
}

/** What a word needs of the command that it is in. */
export interface AroundWord {
  values(): ShellValues
  /** Reads commands up to the `)` that ends them, and says what is behind it. */
  substitute(at: number): number | undefined
  /** Reads commands that are a text of their own. */
  run(text: string): boolean
  /** Goes deeper, for as long as `read` takes; false past the bound. */
  deeper(read: () => boolean): boolean
}

/** `$name`, `${name}`. */
const NAME = /\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/y
const NAME_PARTS = /^\$\{?(\w+)\}?$/

export class WordReader {
  readonly #cursor: TextCursor
  readonly #around: AroundWord

  constructor(cursor: TextCursor, around: AroundWord) {
    this.#cursor = cursor
    this.#around = around
  }

  /** More than one where braces make several of it. Nothing where a quote or a substitution has no end. */
  word(): Word[] | undefined {
    const word = new WordDraft()
    while (this.#cursor.at < this.#cursor.text.length) {
      const char = this.#cursor.text[this.#cursor.at] ?? ''
      if (/^[ \t\n;|&()<>]/.test(char) && !this.#cursor.isAhead(/[<>]\(/y)) break
      if (char === '\\') {
        const escaped = this.#cursor.text[this.#cursor.at + 1] ?? ''
        if (escaped !== '\n') word.add(escaped)
        this.#cursor.at += 2
      } else if (char === "'") {
        const end = this.#cursor.text.indexOf("'", this.#cursor.at + 1)
        if (end === -1) return undefined
        word.add(this.#cursor.text.slice(this.#cursor.at + 1, end))
        this.#cursor.at = end + 1
      } else if (char === '"' || this.#cursor.isAhead(/\$"/y)) {
        this.#cursor.at += char === '"' ? 0 : 1
        if (!this.#quoted(word)) return undefined
      } else if (this.#cursor.isAhead(/\$'/y)) {
        const quoted = /\$'((?:[^'\\]|\\[^])*)'/y
        if (!this.#cursor.isAhead(quoted)) return undefined
        word.add(ansiText(this.#cursor.text.slice(this.#cursor.at + 2, quoted.lastIndex - 1)))
        this.#cursor.at = quoted.lastIndex
      } else if (this.isExpansion() || this.#cursor.isAhead(/[<>]\(/y)) {
        if (!this.#expand(word, false)) return undefined
      } else if (word.takesHome && this.#cursor.isAhead(/~(?=[/ \t\n;|&()<>]|$)/y)) {
        word.addHome()
        this.#cursor.at += 1
      } else {
        word.add(char, true)
        this.#cursor.at += 1
      }
    }
    return word.words()
  }

  /** Of quotes too, in which the shell puts something in. */
  isExpansion(): boolean {
    return this.#cursor.text[this.#cursor.at] === '`' || this.#cursor.isAhead(/\$[A-Za-z_0-9@*#?$!({-]/y)
  }

  /** Double quotes, up to their end. False where they have none. */
  #quoted(word: WordDraft): boolean {
    this.#cursor.at += 1
    while (this.#cursor.at < this.#cursor.text.length) {
      if (this.#cursor.text[this.#cursor.at] === '"') {
        this.#cursor.at += 1
        word.add('')
        return true
      }
      if (this.isExpansion()) {
        if (!this.#expand(word, true)) return false
        continue
      }
      if (this.#cursor.isAhead(/\\\n/y)) {
        this.#cursor.at += 2
        continue
      }
      const isEscape = this.#cursor.isAhead(/\\[$`"\\]/y)
      if (isEscape) this.#cursor.at += 1
      word.add(this.#cursor.text[this.#cursor.at] ?? '')
      this.#cursor.at += 1
    }
    return false
  }

  /** What the shell puts in: as a text where the command line says it, else as a part that is not known. */
  #expand(word: WordDraft, isQuoted: boolean): boolean {
    const name = this.#cursor.isAhead(NAME)
      ? NAME_PARTS.exec(this.#cursor.text.slice(this.#cursor.at, NAME.lastIndex))?.[1]
      : undefined
    const value = name === undefined ? undefined : this.#valueOf(name)
    const isPlain = value !== undefined && (isQuoted || /^[^\s*?[\\]+$/.test(value.text))
    if (!isPlain || (value.isHome === true && !word.takesHome)) {
      const source = this.expansion()
      if (source !== undefined) word.addUnknown(source)
      return source !== undefined
    }
    this.#cursor.at = NAME.lastIndex
    if (value.isHome === true) word.addHome()
    word.add(value.isHome === true ? value.text.slice(1) : value.text)
    return true
  }

  #valueOf(name: string): ShellValue | undefined {
    const known = this.#around.values().of(name)
    if (known !== undefined) return known
    if (name === 'HOME') return { text: '~', isHome: true }
    return name === 'PWD' ? { text: '.' } : undefined
  }

  /** Past `$name`, `${…}`, `$(…)`, `<(…)`, backticks, and what that is. Nothing where it does not end. */
  expansion(): string | undefined {
    const from = this.#cursor.at
    return this.#around.deeper(() => this.#skipOne()) ? this.#cursor.text.slice(from, this.#cursor.at) : undefined
  }

  #skipOne(): boolean {
    if (this.#cursor.isAhead(/\$\(\(/y) && this.#skipArithmetic()) return true
    if (this.#cursor.isAhead(/[$<>]\(/y)) return this.#past(this.#around.substitute(this.#cursor.at + 2))
    if (this.#cursor.isAhead(/\$\{/y)) return this.#skipBraces()
    const ticks = /`((?:[^`\\]|\\[^])*)`/y
    if (this.#cursor.isAhead(ticks)) return this.#backticks(ticks.lastIndex)
    const whole = /\$(?:[A-Za-z_]\w*|[^`'"])/y
    if (!this.#cursor.isAhead(whole)) return false
    // Where it matched, a sticky pattern stands behind it.
    return this.#past(whole.lastIndex)
  }

  #past(at: number | undefined): boolean {
    if (at !== undefined) this.#cursor.at = at
    return at !== undefined
  }

  #backticks(end: number): boolean {
    const text = this.#cursor.text.slice(this.#cursor.at + 1, end - 1).replaceAll(/\\([\\`$"])/g, '$1')
    return this.#around.run(text) && this.#past(end)
  }

  /** False where it is none: `$((` may begin a command in parentheses. */
  #skipArithmetic(): boolean {
    let depth = 0
    for (let at = this.#cursor.at + 1; at < this.#cursor.text.length; at += 1) {
      if (this.#cursor.text[at] === '(') depth += 1
      if (this.#cursor.text[at] === ')') depth -= 1
      if (depth > 0) continue
      if (this.#cursor.text[at - 1] !== ')') return false
      this.#cursor.at = at + 1
      return true
    }
    return false
  }

  #skipBraces(): boolean {
    this.#cursor.at += 2
    while (this.#cursor.at < this.#cursor.text.length) {
      const char = this.#cursor.text[this.#cursor.at]
      if (char === '}') return this.#past(this.#cursor.at + 1)
      if (char === '\\') this.#cursor.at += 2
      else if (char === '"') {
        if (!this.#quoted(new WordDraft())) return false
      } else if (this.isExpansion()) {
        if (this.expansion() === undefined) return false
      } else this.#cursor.at += 1
    }
    return false
  }
}
