// A shell command cut into simple commands, words and redirections, as far as that can be told without running it.
import { ShellValues } from './shell-values.ts'
import { TextCursor, WordReader } from './shell-word-reader.ts'

/** A word of a command. `text` is null where only the shell knows what it becomes: variables, substitutions. */
export interface Word {
  readonly text: string | null
  /** It has `*`, `?`, `[` or `{` outside of quotes. */
  readonly isPattern: boolean
  /** Of a word that only the shell knows, what stands before that part: `A=` of `A=$B`. */
  readonly head?: string
  /** Of such a word, all of it, with those parts as they are written: a shell that it is handed to reads them again. */
  readonly script?: string
  /** Its `~` is the user's home: at its beginning, or behind `NAME=`. */
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
  /** What its input comes from, in a pipe. */
  readonly from?: SimpleCommand | undefined
}

const OPERATOR = /^(?:&&|\|\||\|&|;;|[;|&()\n])/
/** Comparisons, in which `>` writes nothing. */
const COMPARISON = /^\(\([^]*?\)\)|^\[\[\s[^]*?\s\]\](?=\s|[;&|)]|$)/
const REDIRECTION = /^(?:[0-9]*|&)?(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)/

/** Parentheses and substitutions inside of each other: a command that has more of them was written to be read by nobody. */
const DEPTH_MAX = 64

/** Nothing where a quote does not end: then nobody knows what runs. */
export function readShell(text: string): SimpleCommand[] | undefined {
  return new ShellReader(text).commands()
}

interface Draft {
  words: Word[]
  /** All words so far are such that a command may follow them. Known word by word: a command has as many as anybody writes. */
  isAtCommand: boolean
  /** The same for words behind which `((` or `[[` compares. */
  isAtComparison: boolean
  redirections: Redirection[]
  /** Ends of here documents that are to come, in order. */
  awaited: { readonly end: string; readonly isIndented: boolean; readonly isQuoted: boolean }[]
  hereDocument: string | null
  shells: readonly number[]
  from: Draft | undefined
}

/** What is read from a text, of which a substitution is a part with a reader of its own. */
class ShellReader {
  readonly #cursor: TextCursor
  readonly #words: WordReader
  /** In which shell we are, from the outside in, and what has been read since the last `;` of each. */
  #shells: readonly number[] = []
  readonly #lists: Draft[][] = [[]]
  /** How many `case` are open in each. */
  readonly #cases: number[] = [0]
  readonly #lastShell: { id: number }
  /** What is known of variables in each. */
  readonly #values: ShellValues[]
  /** How many choices, loops and groups are open: what is in one may run or not. */
  #choices = 0
  #isPiped = false
  /** The command before a `|` that has just been read. */
  #before: Draft | undefined
  /** Behind `||`: it may run or not. */
  #isElse = false
  #draft: Draft = emptyDraft()
  readonly #done: Draft[] = []
  /** Commands of the line that is being read: their here documents follow it. */
  #line: Draft[] = []
  /** Where the substitution that is read here has ended. */
  #endedAt: number | undefined
  /** Of what is read around this. */
  #depth: number

  constructor(text: string, at = 0, lastShell = { id: 0 }, depth = 0, values = new ShellValues()) {
    this.#cursor = new TextCursor(text, at)
    this.#words = new WordReader(this.#cursor, {
      values: () => this.#known,
      substitute: (from) => this.#substitute(from),
      run: (script) => this.#run(script),
      deeper: (read) => this.#deeper(read),
    })
    this.#lastShell = lastShell
    this.#depth = depth
    this.#values = [values]
  }

  commands(): Draft[] | undefined {
    while (this.#cursor.at < this.#cursor.text.length) if (!this.#step()) return undefined
    return this.#finished()
  }

  /** Up to the `)` that nothing here has opened. */
  substitution(): { readonly commands: readonly Draft[]; readonly end: number } | undefined {
    while (this.#cursor.at < this.#cursor.text.length) {
      if (!this.#step()) return undefined
      if (this.#endedAt === undefined) continue
      // A here document that begins behind the substitution is one that nobody writes.
      const isOpen = this.#line.some(({ awaited }) => awaited.length > 0)
      return isOpen ? undefined : { commands: this.#finished(), end: this.#endedAt }
    }
    return undefined
  }

  /** What a here document has the shell run before it is handed over. */
  substitutions(): Draft[] {
    while (this.#cursor.at < this.#cursor.text.length) {
      if (this.#cursor.text[this.#cursor.at] === '\\') this.#cursor.at += 2
      else if (!this.#words.isExpansion()) this.#cursor.at += 1
      else if (this.#words.expansion() === undefined) break
    }
    return this.#finished()
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
    const rest = this.#cursor.text.slice(this.#cursor.at)
    const blank = /^(?:[ \t]|\\\n)+/.exec(rest)?.[0]
    if (blank !== undefined) return this.#skip(blank.length)
    if (rest.startsWith('#')) return this.#skip(/^[^\n]*/.exec(rest)?.[0].length ?? 0)
    const comparison = this.#draft.isAtComparison ? COMPARISON.exec(rest)?.[0] : undefined
    if (comparison !== undefined) return this.#skip(comparison.length)
    const redirection = REDIRECTION.exec(rest)?.[0]
    if (redirection !== undefined && !/^[<>]\(/.test(rest)) return this.#redirect(redirection)
    const operator = OPERATOR.exec(rest)?.[0]
    if (operator !== undefined) return this.#operate(operator)
    const words = this.#words.word()
    if (words === undefined) return false
    for (const word of words) {
      this.#countChoice(word)
      this.#push(word)
    }
    return true
  }

  #push(word: Word): void {
    const draft = this.#draft
    draft.words.push(word)
    const isKey = isKeyword(word)
    draft.isAtCommand &&= isKey
    draft.isAtComparison &&= isKey || word.text === 'for'
  }

  #countChoice({ text }: Word): void {
    if (text === null || !this.#draft.isAtCommand) return
    if (/^(?:if|while|until|for|select|case|\{)$/.test(text)) this.#choices += 1
    if (/^(?:fi|done|esac|\})$/.test(text)) this.#choices -= 1
    if (text !== 'case' && text !== 'esac') return
    const open = this.#cases.at(-1) ?? 0
    this.#cases[this.#cases.length - 1] = Math.max(0, open + (text === 'case' ? 1 : -1))
  }

  #skip(count: number): boolean {
    this.#cursor.at += count
    return true
  }

  #operate(operator: string): boolean {
    this.#cursor.at += operator.length
    const isPipe = operator === '|' || operator === '|&'
    this.#endCommand(isPipe || this.#isPiped)
    this.#isPiped = isPipe
    if (!isPipe) this.#before = undefined
    this.#isElse = operator === '||' || (operator === '&&' && this.#isElse)
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
    this.#values.push(this.#known.inner())
  }

  get #known(): ShellValues {
    return this.#values.at(-1) ?? new ShellValues()
  }

  #leave(): void {
    // A `)` without its `(` ends a pattern of `case`, or the substitution that is read here.
    if ((this.#cases.at(-1) ?? 0) > 0) return
    if (this.#shells.length === 0) {
      this.#endedAt = this.#cursor.at
      return
    }
    this.#shells = this.#shells.slice(0, -1)
    this.#lists.at(-2)?.push(...(this.#lists.pop() ?? []))
    this.#cases.pop()
    this.#values.pop()
  }

  /** `cd a && rm b &`: all of it is in a shell of its own. */
  #toBackground(): void {
    const shell = this.#newShell()
    const depth = this.#shells.length
    for (const draft of this.#lists.at(-1) ?? [])
      draft.shells = [...draft.shells.slice(0, depth), shell, ...draft.shells.slice(depth)]
  }

  #redirect(matched: string): boolean {
    this.#cursor.at += matched.length
    const operator = matched.replace(/^[0-9]+/, '')
    const blank = /^[ \t]+/.exec(this.#cursor.text.slice(this.#cursor.at))?.[0] ?? ''
    this.#cursor.at += blank.length
    const from = this.#cursor.at
    const words = this.#words.word()
    if (words === undefined) return false
    // Braces that make several of it are an error to the shell.
    const target = words.length === 1 && words[0] !== undefined ? words[0] : { text: null, isPattern: false }
    if (operator === '<<' || operator === '<<-') {
      const isQuoted = /['"\\]/.test(this.#cursor.text.slice(from, this.#cursor.at))
      this.#draft.awaited.push({ end: target.text ?? '', isIndented: operator === '<<-', isQuoted })
    } else this.#draft.redirections.push({ operator, target })
    return true
  }

  #deeper(read: () => boolean): boolean {
    this.#depth += 1
    const isDone = this.#depth <= DEPTH_MAX && read()
    this.#depth -= 1
    return isDone
  }

  /** What is substituted runs first, in a shell of its own. */
  #substitute(at: number): number | undefined {
    const inner = this.#reader(this.#cursor.text, at).substitution()
    if (inner !== undefined) this.#take(inner.commands)
    return inner?.end
  }

  #run(text: string): boolean {
    const commands = this.#reader(text).commands()
    if (commands !== undefined) this.#take(commands)
    return commands !== undefined
  }

  #reader(text: string, at = 0): ShellReader {
    return new ShellReader(text, at, this.#lastShell, this.#depth, this.#known.inner())
  }

  #take(commands: readonly Draft[]): void {
    const shells = [...this.#shells, this.#newShell()]
    for (const draft of commands) {
      draft.shells = [...shells, ...draft.shells]
      this.#line.push(draft)
      this.#lists.at(-1)?.push(draft)
    }
  }

  #endCommand(isPiped: boolean): void {
    const draft = this.#draft
    this.#draft = emptyDraft()
    if (draft.words.length === 0 && draft.redirections.length === 0 && draft.awaited.length === 0) return
    draft.from = this.#before
    this.#before = draft
    draft.shells = isPiped ? [...this.#shells, this.#newShell()] : this.#shells
    this.#known.note(draft.words, !isPiped && !this.#isElse && this.#choices === 0)
    this.#line.push(draft)
    this.#lists.at(-1)?.push(draft)
  }

  #endLine(): void {
    for (const draft of this.#line) {
      for (const { end, isIndented, isQuoted } of draft.awaited) {
        draft.hereDocument = this.#hereDocument(end, isIndented)
        if (!isQuoted) this.#done.push(...this.#reader(draft.hereDocument).substitutions())
      }
      draft.awaited = []
      this.#done.push(draft)
    }
    this.#line = []
  }

  #hereDocument(end: string, isIndented: boolean): string {
    const lines: string[] = []
    while (this.#cursor.at < this.#cursor.text.length) {
      const newline = this.#cursor.text.indexOf('\n', this.#cursor.at)
      const line = this.#cursor.text.slice(this.#cursor.at, newline === -1 ? undefined : newline)
      this.#cursor.at = newline === -1 ? this.#cursor.text.length : newline + 1
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) break
      lines.push(line)
    }
    return lines.join('\n')
  }
}

const emptyDraft = (): Draft => ({
  words: [],
  isAtCommand: true,
  isAtComparison: true,
  redirections: [],
  awaited: [],
  hereDocument: null,
  shells: [],
  from: undefined,
})

/** Words that a command may follow. */
export const isKeyword = ({ text }: Word): boolean =>
  text !== null && /^(?:then|do|else|elif|if|while|until|!|\{)$/.test(text)
