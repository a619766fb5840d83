// Which rules can leave nothing for another to decide: found by what they name, so that a bundle of thousands is not compared pair by pair.
import { LINT_PAIRS_MAX } from '../../limits.ts'
import { covers } from './covers.ts'
import type { ArgsMatch, Match, NameMatch, Rule } from '../types.ts'

const ANY = ''

/** Allow and deny rules of a bundle, for the question which of them match all that another rule does. */
export class Shadows {
  readonly #rules: readonly Rule[]
  /** Rules by what they ask for: a tool, a server, a class, the value of an argument. Numbers in a list are in order. */
  readonly #places = new Map<string, number[]>()
  readonly #tools = new NamePlaces()
  readonly #servers = new NamePlaces()
  /** Where each class is given, in order. */
  readonly #givers = new Map<string, number[]>()
  #pairsLeft = LINT_PAIRS_MAX

  constructor(rules: readonly Rule[]) {
    this.#rules = rules
    rules.forEach((rule, index) => {
      if (!rule.enabled) return
      if (rule.kind === 'tag') for (const name of rule.effect.tag.add_risk_class) push(this.#givers, name, index)
      if (rule.kind !== 'allow' && rule.kind !== 'deny') return
      const { tool_name, server_name, risk_class, args } = rule.match
      for (const place of product([
        this.#tools.taken(tool_name),
        this.#servers.taken(server_name),
        risk_class ?? [ANY],
        [valueAsked(args)],
      ]))
        push(this.#places, place, index)
    })
  }

  /** False when so many rules were alike that not all could be compared. */
  get isComplete(): boolean {
    return this.#pairsLeft >= 0
  }

  /** The first rule before place `end` that is `wanted` and matches all that rule `narrow` does; -1 when there is none. */
  firstOver(narrow: number, end: number, wanted: (rule: Rule) => boolean): number {
    const { match } = this.#rules[narrow] as Rule
    const { tool_name, server_name, risk_class, args } = match
    let first = end
    for (const place of product([
      this.#tools.sought(tool_name),
      this.#servers.sought(server_name),
      [ANY, ...(risk_class ?? []).slice(0, 1)],
      [ANY, ...valuesGiven(args)],
    ])) {
      for (const index of this.#places.get(place) ?? []) {
        if (index >= first || this.#pairsLeft < 0) break
        const rule = this.#rules[index] as Rule
        if (!wanted(rule)) continue
        this.#pairsLeft -= 1
        if (this.#isOver(index, rule.match, narrow, match)) first = index
      }
    }
    return first === end ? -1 : first
  }

  /** Whether a rule in `[from, to)` gives one of the classes. */
  isGiven(classes: readonly string[], from: number, to: number): boolean {
    return classes.some((name) => {
      const givers = this.#givers.get(name) ?? []
      const first = givers[firstAtLeast(givers, from)]
      return first !== undefined && first < to
    })
  }

  /** A class counts as known only from the tag rule on that gives it. */
  #isOver(wide: number, match: Match, narrow: number, other: Match): boolean {
    return covers(match, other) && (match.risk_class === undefined || !this.isGiven(match.risk_class, wide, narrow))
  }
}

/** Patterns by what every name that they match begins with, or else ends with. */
class NamePlaces {
  readonly #starts = new Set<number>()
  readonly #ends = new Set<number>()

  /** The places of a rule with these names: one for each pattern. */
  taken(names: NameMatch | undefined): readonly string[] {
    if (names === undefined || names.glob.includes('*')) return [ANY]
    return [
      ...names.glob.map((glob) => this.#placeOf(literalStart(glob), literalEnd(glob))),
      ...names.regex.flatMap((regex) => [`r${regex}`, this.#placeOf(regexStart(regex), '')]),
    ]
  }

  #placeOf(start: string, end: string): string {
    if (start === '' && end !== '') {
      this.#ends.add(end.length)
      return `e${end}`
    }
    this.#starts.add(start.length)
    return `s${start}`
  }

  /** The places of rules that may cover these names: by the first of them, since each has to be covered. */
  sought(names: NameMatch | undefined): readonly string[] {
    if (names === undefined) return [ANY]
    const [glob] = names.glob
    if (glob === undefined) return [ANY, ...names.regex.slice(0, 1).map((regex) => `r${regex}`)]
    const start = literalStart(glob)
    const end = literalEnd(glob)
    const places = [ANY]
    for (const length of this.#starts) if (length <= start.length) places.push(`s${start.slice(0, length)}`)
    for (const length of this.#ends) if (length <= end.length) places.push(`e${end.slice(end.length - length)}`)
    return places
  }
}

function* product([first = [], ...rest]: readonly (readonly string[])[]): Generator<string> {
  if (rest.length === 0) yield* first
  else for (const text of first) for (const more of product(rest)) yield `${text}\0${more}`
}

function literalStart(glob: string): string {
  return /^[^*?[\]\\]*/.exec(glob)?.[0] ?? ''
}

/** Behind a backslash a character means itself, or not; then nothing is said of the end. */
function literalEnd(glob: string): string {
  return glob.includes('\\') ? '' : (/[^*?[\]]*$/.exec(glob)?.[0] ?? '')
}

/** What a match begins with for sure; empty where that is not plain to see. */
function regexStart(regex: string): string {
  const [, text = ''] = /^\^([\w-]*)/.exec(regex) ?? []
  let depth = 0
  for (let i = 0; i < regex.length; i += 1) {
    const char = regex.charAt(i)
    if (char === '\\') i += 1
    else if (char === '(') depth += 1
    else if (char === ')') depth -= 1
    else if (char === '|' && depth === 0) return ''
  }
  return /^[*?{]/.test(regex.slice(text.length + 1)) ? text.slice(0, -1) : text
}

/** One value that the arguments must have for the rule to match, as a text. */
function valueAsked(args: ArgsMatch | undefined): string {
  const [first] = Object.entries(args?.key_equals ?? {})
  return first === undefined ? ANY : JSON.stringify(first)
}

/** All such values that the arguments are known to have. */
function valuesGiven(args: ArgsMatch | undefined): readonly string[] {
  if (args === undefined) return []
  const listed = Object.entries(args.key_in).flatMap(([key, list]) => list.slice(0, 1).map((value) => [key, value]))
  return [...Object.entries(args.key_equals), ...listed].map((entry) => JSON.stringify(entry))
}

function push(map: Map<string, number[]>, key: string, index: number): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [index])
  else if (list.at(-1) !== index) list.push(index)
}

/** Place of the first number that is at least `least` in a sorted list. */
function firstAtLeast(list: readonly number[], least: number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] as number) < least) low = middle + 1
    else high = middle
  }
  return low
}
