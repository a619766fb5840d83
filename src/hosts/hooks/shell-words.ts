// A shell command cut into simple commands, words and redirections, as far as that can be told without running it.

/** A word of a command. `text` is null where only the shell knows what it becomes: variables, substitutions. */
export interface Word {
  readonly text: string | null
  /** It has `*`, `?`, `[` or `{` outside of quotes. */
  readonly isPattern: boolean
  /** Of a word that only the shell knows, what stands before that part: `A=` of `A=$B`. */
  readonly head?: string
  /** It begins with `~` for the user's home. */
  readonly isHome?: true
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
  /** The shells that it runs in, from the outside in: parentheses, substitutions, each part of a pipe, and what is in the background have one of their own. A `cd` there moves nobody else. */
  readonly shells: readonly number[]
}

const OPERATOR = /^(?:&&|\|\||\|&|;;|[;|&()\n])/
/** Comparisons, in which `>` writes nothing. */
const COMPARISON = /^\(\([^]*?\)\)|^\[\[\s[^]*?\s\]\](?=\s|[;&|)]|$)/
const REDIRECTION = /^(?:[0-9]*|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)/

/** Parentheses and substitutions inside of each other: a command that has more of them was written to be read by nobody. */
const DEPTH_MAX = 64

/** Nothing where a quote does not end: then nobody knows what runs. */
export function readShell(text: string): SimpleCommand[] | undefined {
  return new ShellReader(text).commands()?.map(({ words, redirections, hereDocument, shells }) => ({
    words,
    redirections,
    hereDocument,
    shells,
  }))
}

interface Draft {
  words: Word[]
  redirections: Redirection[]
  /** Ends of here documents that are to come, in order. */
  awaited: { readonly end: string; readonly isIndented: boolean }[]
  hereDocument: string | null
  shells: readonly number[]
}

/** What is read from a text, of which a substitution is a part with a reader of its own. */
class ShellReader {
  readonly #text: string
  #at: number
  /** In which shell we are, from the outside in, and what has been read since the last `;` of each. */
  #shells: readonly number[] = []
  readonly #lists: Draft[][] = [[]]
  /** How many `case` are open in each. */
  readonly #cases: number[] = [0]
  readonly #lastShell: { id: number }
  #isPiped = false
  #draft: Draft = emptyDraft()
  readonly #done: Draft[] = []
  /** Commands of the line that is being read: their here documents follow it. */
  #line: Draft[] = []
  /** Where the substitution that is read here has ended. */
  #endedAt: number | undefined
  /** Of what is read around this. */
  #depth: number

  constructor(text: string, at = 0, lastShell = { id: 0 }, depth = 0) {
    this.#text = text
    this.#at = at
    this.#lastShell = lastShell
    this.#depth = depth
  }

  commands(): Draft[] | undefined {
    while (this.#at < this.#text.length) if (!this.#step()) return undefined
    return this.#finished()
  }

  /** Up to the `)` that nothing here has opened. */
  substitution(): { readonly commands: readonly Draft[]; readonly end: number } | undefined {
    while (this.#at < this.#text.length) {
      if (!this.#step()) return undefined
      if (this.#endedAt === undefined) continue
      // A here document that begins behind the substitution is one that nobody writes.
      const isOpen = this.#line.some(({ awaited }) => awaited.length > 0)
      return isOpen ? undefined : { commands: this.#finished(), end: this.#endedAt }
    }
    return undefined
  }

  #finished(): Draft[] {
    this.#endCommand(this.#isPiped)
    this.#endLine()
    return this.#done
  }

  #newShell(): number {
    this.#lastShell.id += 1
    return this.#lastShell.id
  }

  #step(): boolean {
    const rest = this.#text.slice(this.#at)
    const blank = /^(?:[ \t]|\\\n)+/.exec(rest)?.[0]
    if (blank !== undefined) return this.#skip(blank.length)
    if (rest.startsWith('#')) return this.#skip(/^[^\n]*/.exec(rest)?.[0].length ?? 0)
    const comparison = this.#draft.words.every(comesBefore) ? COMPARISON.exec(rest)?.[0] : undefined
    if (comparison !== undefined) return this.#skip(comparison.length)
    const redirection = REDIRECTION.exec(rest)?.[0]
    if (redirection !== undefined && !/^[<>]\(/.test(rest)) return this.#redirect(redirection)
    const operator = OPERATOR.exec(rest)?.[0]
    if (operator !== undefined) return this.#operate(operator)
    const word = this.#word()
    if (word === undefined) return false
    this.#countCase(word)
    this.#draft.words.push(word)
    return true
  }

  #countCase({ text }: Word): void {
    if ((text !== 'case' && text !== 'esac') || !this.#draft.words.every(isKeyword)) return
    const open = this.#cases.at(-1) ?? 0
    this.#cases[this.#cases.length - 1] = Math.max(0, open + (text === 'case' ? 1 : -1))
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
    return this.#shells.length <= DEPTH_MAX
  }

  #enter(): void {
    this.#shells = [...this.#shells, this.#newShell()]
    this.#lists.push([])
    this.#cases.push(0)
  }

  #leave(): void {
    // A `)` without its `(` ends a pattern of `case`, or the substitution that is read here.
    if ((this.#cases.at(-1) ?? 0) > 0) return
    if (this.#shells.length === 0) {
      this.#endedAt = this.#at
      return
    }
    this.#shells = this.#shells.slice(0, -1)
    this.#lists.at(-2)?.push(...(this.#lists.pop() ?? []))
    this.#cases.pop()
  }

  /** `cd a && rm b &`: all of it is in a shell of its own. */
  #toBackground(): void {
    const shell = this.#newShell()
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
    let text = ''
    let isKnown = true
    let isPattern = false
    const isHome = this.#isAhead(/~(?=[/ \t\n;|&()<>]|$)/y)
    const add = (more: string): void => void (text += isKnown ? more : '')
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? ''
      if (/^[ \t\n;|&()<>]/.test(char) && !this.#isAhead(/[<>]\(/y)) break
      if (char === '\\') {
        const escaped = this.#text[this.#at + 1] ?? ''
        if (escaped !== '\n') add(escaped)
        this.#at += 2
      } else if (char === "'") {
        const end = this.#text.indexOf("'", this.#at + 1)
        if (end === -1) return undefined
        add(this.#text.slice(this.#at + 1, end))
        this.#at = end + 1
      } else if (char === '"') {
        const quoted = this.#quoted()
        if (quoted === undefined) return undefined
        add(quoted.text)
        isKnown &&= quoted.isKnown
      } else if (this.#isExpansion() || this.#isAhead(/[<>]\(|\$['"]/y)) {
        isKnown = false
        if (!this.#skipExpansion()) return undefined
      } else {
        if ('*?[{'.includes(char)) isPattern = true
        add(char)
        this.#at += 1
      }
    }
    return isKnown ? { text, isPattern, ...(isHome ? { isHome } : {}) } : { text: null, isPattern, head: text }
  }

  #isAhead(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text)
  }

  /** Of quotes too, in which the shell puts something in. */
  #isExpansion(): boolean {
    return this.#text[this.#at] === '`' || this.#isAhead(/\$[A-Za-z_0-9@*#?$!({-]/y)
  }

  /** Double quotes, up to their end; what stands before the first part that only the shell knows. */
  #quoted(): { readonly text: string; readonly isKnown: boolean } | undefined {
    let text = ''
    let isKnown = true
    this.#at += 1
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? ''
      if (char === '"') {
        this.#at += 1
        return { text, isKnown }
      }
      if (this.#isExpansion()) {
        isKnown = false
        if (!this.#skipExpansion()) return undefined
        continue
      }
      const isEscape = this.#isAhead(/\\[$`"\\\n]/y)
      if (isEscape) this.#at += 1
      text += isKnown ? (this.#text[this.#at] ?? '') : ''
      this.#at += 1
    }
    return undefined
  }

  /** Past `$name`, `${…}`, `$(…)`, `$'…'`, `<(…)`, backticks. False where it does not end. */
  #skipExpansion(): boolean {
    this.#depth += 1
    const isPast = this.#depth <= DEPTH_MAX && this.#skipOne()
    this.#depth -= 1
    return isPast
  }

  #skipOne(): boolean {
    if (this.#isAhead(/\$\(\(/y) && this.#skipArithmetic()) return true
    if (this.#isAhead(/[$<>]\(/y)) return this.#substitute()
    if (this.#isAhead(/\$\{/y)) return this.#skipBraces()
    if (this.#isAhead(/\$"/y)) {
      this.#at += 1
      return this.#quoted() !== undefined
    }
    const whole = [/`(?:[^`\\]|\\[^])*`/y, /\$'(?:[^'\\]|\\[^])*'/y, /\$(?:[A-Za-z_]\w*|[^`'"])/y].find((one) =>
      this.#isAhead(one),
    )
    if (whole === undefined) return false
    // Where it matched, a sticky pattern stands behind it.
    this.#at = whole.lastIndex
    return true
  }

  /** What is substituted runs first, in a shell of its own. */
  #substitute(): boolean {
    const inner = new ShellReader(this.#text, this.#at + 2, this.#lastShell, this.#depth).substitution()
    if (inner === undefined) return false
    this.#at = inner.end
    const shells = [...this.#shells, this.#newShell()]
    for (const draft of inner.commands) {
      draft.shells = [...shells, ...draft.shells]
      this.#line.push(draft)
      this.#lists.at(-1)?.push(draft)
    }
    return true
  }

  /** False where it is none: `$((` may begin a command in parentheses. */
  #skipArithmetic(): boolean {
    let depth = 0
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      if (this.#text[at] === '(') depth += 1
      if (this.#text[at] === ')') depth -= 1
      if (depth > 0) continue
      if (this.#text[at - 1] !== ')') return false
      this.#at = at + 1
      return true
    }
    return false
  }

  #skipBraces(): boolean {
    this.#at += 2
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]
      if (char === '}') return this.#skip(1)
      if (char === '\\') this.#at += 2
      else if (char === '"') {
        if (this.#quoted() === undefined) return false
      } else if (this.#isExpansion()) {
        if (!this.#skipExpansion()) return false
      } else this.#at += 1
    }
    return false
  }

  #endCommand(isPiped: boolean): void {
    const draft = this.#draft
    this.#draft = emptyDraft()
    if (draft.words.length === 0 && draft.redirections.length === 0 && draft.awaited.length === 0) return
    draft.shells = isPiped ? [...this.#shells, this.#newShell()] : this.#shells
    this.#line.push(draft)
    this.#lists.at(-1)?.push(draft)
  }

  #endLine(): void {
    for (const draft of this.#line) {
      for (const { end, isIndented } of draft.awaited) draft.hereDocument = this.#hereDocument(end, isIndented)
      draft.awaited = []
      this.#done.push(draft)
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

/** Words behind which `((` or `[[` compares. */
const comesBefore = (word: Word): boolean => isKeyword(word) || word.text === 'for'
