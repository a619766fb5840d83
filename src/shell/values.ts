// Variables of a shell whose values the command line itself gives: assigned once, literally, and outside of conditions and loops.
import type { Word } from './word.ts'

const ASSIGNMENT = /^([A-Za-z_]\w*)=/
/** Programs that a variable may be given by as well. */
const GIVING: ReadonlySet<string | null> = new Set(['export', 'readonly', 'declare', 'typeset', 'local'])

/** What a variable holds; `isHome` where its `~` is the user's home. */
export type ShellValue = Pick<Word, 'isHome'> & { readonly text: string }

/** What variables hold that no command has to set. */
const DEFAULTS: Readonly<Record<string, ShellValue>> = {
  HOME: { text: '~', isHome: true },
  PWD: { text: '.' },
  IFS: { text: ' ' },
}

export class ShellValues {
  /** Undefined for one that was given more than once, or in a way that is not known. */
  readonly #known: Map<string, ShellValue | undefined>

  constructor(known: ReadonlyMap<string, ShellValue | undefined> = new Map<string, ShellValue | undefined>()) {
    this.#known = new Map(known)
  }

  /** For a shell inside: what it changes is not seen outside. */
  inner(): ShellValues {
    return new ShellValues(this.#known)
  }

  of(name: string): ShellValue | undefined {
    return this.#known.has(name) ? this.#known.get(name) : DEFAULTS[name]
  }

  set(name: string, value: ShellValue | undefined): void {
    this.#known.set(name, value)
  }

  /** A command that has been read. `isSure`: it runs, once, before what follows. */
  note(words: readonly Word[], isSure: boolean): void {
    const given = GIVING.has(words[0]?.text ?? '') ? words.slice(1) : words
    const isGiven = isSure && given.every(isAssigned)
    for (const word of given) {
      const text = word.text ?? word.head ?? ''
      const name = /^([A-Za-z_]\w*)(?:\+?=|\[|$)/.exec(text)?.[1]
      if (name === undefined) continue
      if (isGiven && !this.#known.has(name)) this.#known.set(name, valueOf(word))
      else if (isGiven || this.#known.has(name)) this.#known.set(name, undefined)
    }
  }
}

const isAssigned = ({ text, head }: Word): boolean => ASSIGNMENT.test(text ?? head ?? '')

const valueOf = ({ text, isHome, isPattern }: Word): ShellValue | undefined =>
  text === null || isPattern
    ? undefined
    : { text: text.replace(ASSIGNMENT, ''), ...(isHome === true ? { isHome } : {}) }
