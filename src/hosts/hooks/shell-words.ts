// A shell command cut into simple commands, words and redirections, as far as that can be told without running it.

/** A word of a command. `text` is null where only the shell knows what it becomes: variables, substitutions. */
export interface Word {
  readonly text: string | null
  /** It has `*`, `?`, `[` or `{` outside of quotes. */
  readonly isPattern: boolean
}

export interface Redirection {
  readonly operator: string
  readonly target: Word
}

export interface SimpleCommand {
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
  /** What follows `<<`, where it does. */
  readonly hereDocument: string | null
  /** The shells that it runs in, from the outside in: parentheses, each part of a pipe, and what is in the background have one of their own. A `cd` there moves nobody else. */
  readonly shells: readonly number[]
}

const OPERATOR = /^(?:&&|\|\||\|&|;;|[;|&()\n])/
/** Comparisons, in which `>` writes nothing. */
const COMPARISON = /^\(\([^]*?\)\)|^\[\[\s[^]*?\s\]\](?=\s|[;&|)]|$)/
const REDIRECTION = /^(?:[0-9]*|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)/
const HEX_OR_NAME = /^\$(?:[A-Za-z_0-9@*#?$!-]|\{|\()/

/** Nothing where a quote does not end: then nobody knows what runs. */
export function readShell(text: string): SimpleCommand[] | undefined {
  return new ShellReader(text).commands()
}

interface Draft {
  words: Word[]
  redirections: Redirection[]
  /** Ends of here documents that are to come, in order. */
  awaited: { readonly end: string; readonly isIndented: boolean }[]
  hereDocument: string | null
  shells: readonly number[]
}

class ShellReader {
  readonly #text: string
  #at = 0
  /** In which shell we are, from the outside in, and what has been read since the last `;` of each. */
  #shells: readonly number[] = []
  readonly #lists: Draft[][] = [[]]
  #lastShell = 0
  #isPiped = false
  #draft: Draft = emptyDraft()
  readonly #done: SimpleCommand[] = []
  /** Commands of the line that is being read: their here documents follow it. */
  #line: Draft[] = []

  constructor(text: string) {
    this.#text = text
  }

  commands(): SimpleCommand[] | undefined {
    while (this.#at < this.#text.length) if (!this.#step()) return undefined
    this.#endCommand(this.#isPiped)
    this.#endLine()
    return this.#done
  }

  #step(): boolean {
    const rest = this.#text.slice(this.#at)
    const blank = /^(?:[ \t]|\\\n)+/.exec(rest)?.[0]
    if (blank !== undefined) return this.#skip(blank.length)
    if (rest.startsWith('#')) return this.#skip(/^[^\n]*/.exec(rest)?.[0].length ?? 0)
    const comparison = this.#draft.words.every(isKeyword) ? COMPARISON.exec(rest)?.[0] : undefined
    if (comparison !== undefined) return this.#skip(comparison.length)
    const redirection = REDIRECTION.exec(rest)?.[0]
    if (redirection !== undefined && !/^[<>]\(/.test(rest)) return this.#redirect(redirection)
    const operator = OPERATOR.exec(rest)?.[0]
    if (operator !== undefined) return this.#operate(operator)
    const word = this.#word()
    if (word === undefined) return false
    this.#draft.words.push(word)
    return true
  }

  #skip(count: number): boolean {
    this.#at += count
    return true
  }

  #operate(operator: string): boolean {
    this.#at += operator.length
    const isPipe = operator === '|' || operator === '|&'
    this.#endCommand(isPipe || this.#isPiped)
    this.#isPiped = isPipe
    if (operator === '(') this.#enter()
    if (operator === ')') this.#leave()
    if (operator === '&') this.#toBackground()
    if (/^(?:;|;;|&|\n)$/.test(operator)) this.#lists[this.#lists.length - 1] = []
    if (operator === '\n') this.#endLine()
    return true
  }

  #enter(): void {
    this.#shells = [...this.#shells, (this.#lastShell += 1)]
    this.#lists.push([])
  }

  #leave(): void {
    // A `)` without its `(` ends a pattern of `case`.
    if (this.#shells.length === 0) return
    this.#shells = this.#shells.slice(0, -1)
    this.#lists.at(-2)?.push(...(this.#lists.pop() ?? []))
  }

  /** `cd a && rm b &`: all of it is in a shell of its own. */
  #toBackground(): void {
    const shell = (this.#lastShell += 1)
    const depth = this.#shells.length
    for (const draft of this.#lists.at(-1) ?? [])
      draft.shells = [...draft.shells.slice(0, depth), shell, ...draft.shells.slice(depth)]
  }

  #redirect(matched: string): boolean {
    this.#at += matched.length
    const operator = matched.replace(/^[0-9]+/, '')
    const blank = /^[ \t]+/.exec(this.#text.slice(this.#at))?.[0] ?? ''
    this.#at += blank.length
    const target = this.#word()
    if (target === undefined) return false
    if (operator === '<<' || operator === '<<-')
      this.#draft.awaited.push({ end: target.text ?? '', isIndented: operator === '<<-' })
    else this.#draft.redirections.push({ operator, target })
    return true
  }

  #word(): Word | undefined {
    let text: string | null = ''
    let isPattern = false
    const add = (more: string): void => void (text = text === null ? null : text + more)
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at)
      const [char = ''] = rest
      if (/^[ \t\n;|&()<>]/.test(char) && !/^[<>]\(/.test(rest)) break
      if (char === '\\') {
        if (rest[1] !== '\n') add(rest[1] ?? '')
        this.#at += 2
      } else if (char === "'") {
        const end = rest.indexOf("'", 1)
        if (end === -1) return undefined
        add(rest.slice(1, end))
        this.#at += end + 1
      } else if (char === '"') {
        const quoted = this.#quoted(rest)
        if (quoted === undefined) return undefined
        if (quoted === null) text = null
        else add(quoted)
      } else if (char === '`' || HEX_OR_NAME.test(rest) || /^[<>]\(/.test(rest) || /^\$['"]/.test(rest)) {
        text = null
        if (!this.#skipExpansion(rest)) return undefined
      } else {
        if ('*?[{'.includes(char)) isPattern = true
        add(char)
        this.#at += 1
      }
    }
    return { text, isPattern }
  }

  /** Null where something in it is put in by the shell. */
  #quoted(rest: string): string | null | undefined {
    let text: string | null = ''
    for (let index = 1; index < rest.length; index += 1) {
      const char = rest[index] ?? ''
      if (char === '"') {
        this.#at += index + 1
        return text
      }
      if (char === '\\' && /[$`"\\\n]/.test(rest[index + 1] ?? '')) {
        index += 1
        text = text === null ? null : text + (rest[index] ?? '')
      } else if (char === '`' || HEX_OR_NAME.test(rest.slice(index))) text = null
      else text = text === null ? null : text + char
    }
    return undefined
  }

  /** Past `$name`, `${…}`, `$(…)`, backticks; quotes inside are not looked into further than for their ends. */
  #skipExpansion(rest: string): boolean {
    const closing = rest.startsWith('`') ? '`' : /^(?:\$|[<>])\(/.test(rest) ? ')' : rest.startsWith('${') ? '}' : null
    if (closing === null) {
      const quote = /^\$(['"])/.exec(rest)?.[1]
      const length =
        quote === undefined
          ? (/^\$[A-Za-z_0-9]*/.exec(rest)?.[0].length ?? 1)
          : rest.indexOf(quote, 2) === -1
            ? -1
            : rest.indexOf(quote, 2) + 1
      return length === -1 ? false : this.#skip(Math.max(length, 2))
    }
    const opening = closing === ')' ? '(' : closing === '}' ? '{' : null
    let depth = 0
    for (let index = closing === '`' ? 1 : 0; index < rest.length; index += 1) {
      const char = rest[index] ?? ''
      if (char === '\\') index += 1
      else if (char === "'" && closing === ')') {
        const end = rest.indexOf("'", index + 1)
        if (end === -1) return false
        index = end
      } else if (char === opening) depth += 1
      else if (char === closing && (opening === null || (depth -= 1) <= 0)) return this.#skip(index + 1)
    }
    return false
  }

  #endCommand(isPiped: boolean): void {
    const draft = this.#draft
    this.#draft = emptyDraft()
    if (draft.words.length === 0 && draft.redirections.length === 0 && draft.awaited.length === 0) return
    draft.shells = isPiped ? [...this.#shells, (this.#lastShell += 1)] : this.#shells
    this.#line.push(draft)
    this.#lists.at(-1)?.push(draft)
  }

  #endLine(): void {
    for (const draft of this.#line) {
      for (const { end, isIndented } of draft.awaited) draft.hereDocument = this.#hereDocument(end, isIndented)
      const { words, redirections, hereDocument, shells } = draft
      this.#done.push({ words, redirections, hereDocument, shells })
    }
    this.#line = []
  }

  #hereDocument(end: string, isIndented: boolean): string {
    const lines: string[] = []
    while (this.#at < this.#text.length) {
      const newline = this.#text.indexOf('\n', this.#at)
      const line = this.#text.slice(this.#at, newline === -1 ? undefined : newline)
      this.#at = newline === -1 ? this.#text.length : newline + 1
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) break
      lines.push(line)
    }
    return lines.join('\n')
  }
}

const emptyDraft = (): Draft => ({ words: [], redirections: [], awaited: [], hereDocument: null, shells: [] })

/** Words that a command may follow. */
export const isKeyword = ({ text }: Word): boolean =>
  text !== null && /^(?:then|do|else|elif|if|while|until|!|\{)$/.test(text)
