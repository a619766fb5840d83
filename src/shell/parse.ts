// Parses a bash command line into simple commands: the syntax tree of unbash, flattened in the order in which commands run.
import {
  type Assignment,
  type Command,
  type CommandArgument,
  forEachChild,
  parse,
  type Redirection as ParsedRedirection,
  type SyntaxNode,
  type Word as ParsedWord,
  type WordPart,
} from 'unbash'
import { ShellValues, type ShellValue } from './values.ts'
import { type Word, WordDraft } from './word.ts'

export interface Redirection {
  readonly operator: string
  readonly target: Word
}

export interface SimpleCommand {
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
  /** The text after `<<`. */
  readonly hereDocument: string | null
  /** Ids of the subshells that it runs in, outermost first: parentheses, substitutions, parts of a pipe, background. A `cd` in one has no effect outside of it. */
  readonly shells: readonly number[]
  /** The command whose output it reads, in a pipe. */
  readonly from?: SimpleCommand | undefined
}

export interface ParsedShell {
  readonly commands: readonly SimpleCommand[]
  /** False for a syntax error and for what exceeds the bounds: then more may run than `commands` has. */
  readonly isComplete: boolean
}

/** Longer command lines are not parsed; a here document with a whole file is shorter. Parsing takes 0.1 ms per KiB. */
const TEXT_MAX = 1 << 20
/** Nodes inside of each other, far below what the stack holds. */
const DEPTH_MAX = 256
/** Commands of one line. Loops are unrolled, so a short line can have many. */
const COMMANDS_MAX = 4_096
/** Values of a loop that are known one by one. */
const LOOP_VALUES_MAX = 32

const UNPARSED: ParsedShell = { commands: [], isComplete: false }

export function parseShell(text: string): ParsedShell {
  if (text.length > TEXT_MAX || text.includes('\0')) return UNPARSED
  const flattener = new Flattener()
  flattener.add(parse(text), { shells: [], values: new ShellValues(), isSure: true, from: undefined })
  return flattener
}

/** Where a command is: what holds for everything inside of it. */
interface Place {
  readonly shells: readonly number[]
  readonly values: ShellValues
  /** It runs exactly once, so an assignment in it holds for what follows. */
  readonly isSure: boolean
  readonly from: SimpleCommand | undefined
}

/** Where a part of a word is. `splits`: bash splits the value of a variable there into words. */
interface Around {
  readonly place: Place
  readonly isQuoted: boolean
  readonly splits: boolean
}

class Flattener implements ParsedShell {
  readonly commands: SimpleCommand[] = []
  isComplete = true
  #shells = 0
  #depth = 0

  add(node: SyntaxNode | undefined, place: Place): void {
    if (node === undefined) return
    this.#depth += 1
    if (this.commands.length > COMMANDS_MAX || this.#depth > DEPTH_MAX) this.isComplete = false
    else this.#add(node, place)
    this.#depth -= 1
  }

  #add(node: SyntaxNode, place: Place): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the tree has 60 kinds of nodes; the default is right for the rest
    switch (node.type) {
      case 'Script':
        if ('errors' in node && (node.errors?.length ?? 0) > 0) this.isComplete = false
        this.#addAll(node.commands, place)
        break
      case 'Statement':
        this.add(node.command, node.background === true ? this.#subshell(place) : place)
        break
      case 'Command':
        this.#command(node, place)
        break
      case 'Pipeline':
        this.#pipeline(node.commands, place)
        break
      case 'AndOr':
        this.#andOr(node, place)
        break
      case 'Redirected':
        this.add(node.command, this.#redirected(node.redirects, place))
        break
      case 'Subshell':
        this.add(node.body, this.#subshell(place))
        break
      case 'Coproc':
        this.add(node.body, this.#subshell(place))
        break
      case 'For':
      case 'Select':
        this.#loop(node, place)
        break
      case 'BraceGroup':
      case 'CompoundList':
        this.#children(node, place)
        break
      case 'Word':
        this.#words(node, place)
        break
      default:
        // Choices, loops and functions: what is in them runs any number of times.
        this.#children(node, { ...place, isSure: false })
    }
  }

  #addAll(nodes: readonly SyntaxNode[], place: Place): void {
    for (const node of nodes) this.add(node, place)
  }

  #children(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => this.add(child, place))
  }

  #subshell(place: Place): Place {
    this.#shells += 1
    return { ...place, shells: [...place.shells, this.#shells], values: place.values.inner() }
  }

  #pipeline(parts: readonly SyntaxNode[], place: Place): void {
    let { from } = place
    for (const part of parts) {
      this.add(part, { ...(parts.length === 1 ? place : this.#subshell(place)), from })
      from = this.commands.at(-1)
    }
  }

  #andOr({ commands, operators }: Extract<SyntaxNode, { type: 'AndOr' }>, place: Place): void {
    let isElse = false
    for (const [index, command] of commands.entries()) {
      // What follows `&&` runs only after it, so that its assignments hold for what runs at all.
      isElse ||= operators[index - 1] === '||'
      this.add(command, isElse ? { ...place, isSure: false } : place)
    }
  }

  #loop({ name, wordlist = [], body }: Extract<SyntaxNode, { type: 'For' | 'Select' }>, place: Place): void {
    const words = wordlist.flatMap((word) => this.#words(word, place))
    const known = words.flatMap((word) => knownValue(word) ?? [])
    const rounds = known.length === words.length && words.length <= LOOP_VALUES_MAX ? known : [undefined]
    for (const value of rounds) {
      place.values.set(name.value, value)
      this.add(body, { ...place, isSure: false })
    }
    place.values.set(name.value, undefined)
  }

  #command({ name, prefix, suffix }: Command, place: Place): void {
    const all: readonly (ParsedWord | Assignment | ParsedRedirection)[] =
      name === undefined ? [...prefix, ...suffix] : [...prefix, name, ...suffix]
    const redirects = all.filter(isRedirection)
    const words = all.flatMap((one) => (isRedirection(one) ? [] : this.#argument(one, place)))
    this.#push(words, redirects, place)
    place.values.note(words, place.isSure)
  }

  #push(words: readonly Word[], redirects: readonly ParsedRedirection[], place: Place): SimpleCommand {
    const redirections: Redirection[] = []
    let hereDocument: string | null = null
    for (const redirect of redirects) {
      if (redirect.type === 'HereDoc') {
        const { text } = redirect.body
        hereDocument = (redirect.operator === '<<-' ? text.replaceAll(/^\t+/gm, '') : text).replace(/\n$/, '')
        this.#substitutions(redirect.body, place)
      } else if (redirect.target !== undefined) {
        const targets = this.#words(redirect.target, place)
        // Braces that make several targets are an error in bash.
        const target = targets.length === 1 && targets[0] !== undefined ? targets[0] : UNKNOWN
        redirections.push({ operator: redirect.operator, target })
      }
    }
    const command = { words, redirections, hereDocument, shells: place.shells, from: place.from }
    this.commands.push(command)
    return command
  }

  /** `{ …; } < file`: all commands inside read and write there. */
  #redirected(redirects: readonly ParsedRedirection[], place: Place): Place {
    const command = this.#push([], redirects, place)
    const isInput =
      command.hereDocument !== null || command.redirections.some(({ operator }) => operator.startsWith('<'))
    return isInput ? { ...place, from: { ...command, words: [{ text: 'cat', isPattern: false }] } } : place
  }

  #argument(node: CommandArgument, place: Place): Word[] {
    if (node.type === 'Word') return this.#words(node, place)
    const draft = new WordDraft()
    draft.add(`${node.name}${node.append === true ? '+' : ''}=`)
    const { value } = node
    if (value.type === 'Word' && node.index === undefined) {
      this.#fill([draft], partsOf(value), { place, isQuoted: false, splits: false })
      return draft.words()
    }
    this.#substitutions(node, place)
    draft.addUnknown('')
    return draft.words()
  }

  /** Several where braces or the value of a variable make several of it. */
  #words(word: ParsedWord, place: Place): Word[] {
    const drafts = [new WordDraft()]
    this.#fill(drafts, partsOf(word), { place, isQuoted: false, splits: true })
    return drafts.flatMap((draft) => draft.words())
  }

  #fill(drafts: WordDraft[], parts: readonly WordPart[], around: Around): void {
    for (const [index, part] of parts.entries()) {
      const draft = drafts.at(-1) ?? new WordDraft()
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are expansions
      switch (part.type) {
        case 'Literal':
          if (around.isQuoted) draft.add(part.value)
          else draft.addBare(part.text, index === parts.length - 1)
          break
        case 'Glob':
          draft.addBare(part.text, true)
          break
        case 'BraceExpansion':
          draft.addBare('{', false)
          if (part.parts === undefined) draft.addBare(part.text.slice(1, -1), false)
          else this.#fill(drafts, part.parts, around)
          draft.addBare('}', false)
          break
        case 'SingleQuoted':
        case 'AnsiCQuoted':
          draft.add(part.value)
          break
        case 'DoubleQuoted':
        case 'LocaleString':
          draft.add('')
          this.#fill(drafts, part.parts, { ...around, isQuoted: true, splits: false })
          break
        default:
          this.#expand(drafts, part, around)
      }
    }
  }

  /** The value where the command line itself gives it; otherwise a part that only the shell knows. */
  #expand(drafts: WordDraft[], part: WordPart, { place, splits }: Around): void {
    const draft = drafts.at(-1) ?? new WordDraft()
    const value = place.values.of(variableOf(part) ?? '')
    if (value === undefined) {
      this.#substitutions(part, place)
      draft.addUnknown(part.text, splits && part.type !== 'ProcessSubstitution')
    } else if (!splits) draft.addValue(value)
    else if (/[*?[\\]/.test(value.text)) draft.addUnknown(part.text)
    else {
      for (const [index, text] of value.text.split(/\s+/).entries()) {
        if (index > 0) drafts.push(new WordDraft())
        if (text !== '') drafts.at(-1)?.addValue({ ...value, text })
      }
    }
  }

  /** Commands that run to make a word, wherever they are in it. */
  #substitutions(node: SyntaxNode, place: Place): void {
    if (node.type === 'Script') this.add(node, this.#subshell(place))
    else if (this.#depth > DEPTH_MAX) this.isComplete = false
    else {
      this.#depth += 1
      forEachChild(node, (child) => this.#substitutions(child, place))
      this.#depth -= 1
    }
  }
}

const UNKNOWN: Word = { text: null, isPattern: false }

const isRedirection = (node: ParsedWord | Assignment | ParsedRedirection): node is ParsedRedirection =>
  node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc'

const partsOf = ({ parts, text, value, pos, end }: ParsedWord): readonly WordPart[] =>
  parts ?? [{ type: 'Literal', text, value, pos, end }]

/** The name in `$name` and `${name}`. */
function variableOf(part: WordPart): string | undefined {
  if (part.type === 'SimpleExpansion') return part.text.slice(1)
  if (part.type !== 'ParameterExpansion') return undefined
  return (part.prefix ?? part.index ?? part.operation) ? undefined : part.parameter
}

const knownValue = ({ text, isPattern, isHome }: Word): ShellValue | undefined =>
  text === null || isPattern ? undefined : { text, ...(isHome === true ? { isHome } : {}) }
