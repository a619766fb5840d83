// Reading the fields of one object of a bundle: each is asked for once by type, and what nobody asked for is refused.
import { printable } from '../../ids.ts'
import { nearest } from '../../suggest.ts'
import { isObject } from '../../plain-object.ts'
import type { Path, Problems } from './problems.ts'

interface Bounds {
  readonly min: number
  readonly max?: number
}

/** A wrong value is noted, and a harmless one returned in its place, so that one reading finds all problems. */
export class Fields {
  readonly path: Path
  readonly #value: Readonly<Record<string, unknown>>
  readonly #problems: Problems
  readonly #asked = new Set<string>()

  constructor(value: unknown, path: Path, problems: Problems) {
    this.path = path
    this.#problems = problems
    this.#value = isObject(value) ? value : {}
    if (!isObject(value)) problems.add(path, `must be an object, not ${kindOf(value)}`)
  }

  has(name: string): boolean {
    this.#asked.add(name)
    return Object.hasOwn(this.#value, name) && this.#value[name] !== null
  }

  raw(name: string): unknown {
    return this.has(name) ? this.#value[name] : undefined
  }

  problem(name: string | undefined, message: string): void {
    this.#problems.add(name === undefined ? this.path : [...this.path, name], message)
  }

  /** Without `fallback` the field is required. */
  text(name: string, fallback?: string): string {
    const value = this.raw(name)
    if (typeof value === 'string' && value !== '') return value
    if (value === undefined && fallback !== undefined) return fallback
    this.problem(name, value === undefined ? 'is missing' : `must be a text, not ${kindOf(value)}${quoteAdvice(value)}`)
    return ''
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.raw(name)
    if (typeof value === 'boolean') return value
    if (value !== undefined) this.problem(name, `must be true or false, not ${kindOf(value)}`)
    return fallback
  }

  /** `advice` is for values that are often written in its place. */
  choice<const T extends string>(
    name: string,
    choices: readonly T[],
    fallback?: T,
    advice: Readonly<Record<string, string>> = {},
  ): T {
    const value = this.raw(name)
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    const [first] = choices as readonly [T, ...T[]]
    if (value === undefined && fallback !== undefined) return fallback
    if (value === undefined) this.problem(name, `is missing; it is one of ${choices.join(', ')}`)
    else {
      const instead = typeof value === 'string' ? advice[value] : undefined
      const hint = instead === undefined ? didYouMean(value, choices) : `; ${instead}`
      this.problem(name, `${shown(value)} is not one of ${choices.join(', ')}${hint}`)
    }
    return fallback ?? first
  }

  integer(name: string, bounds: Bounds, fallback?: number): number {
    const value = this.raw(name)
    if (value === undefined && fallback !== undefined) return fallback
    const { min, max = Number.MAX_SAFE_INTEGER } = bounds
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`
    this.problem(name, value === undefined ? 'is missing' : `must be a whole number ${range}, not ${shown(value)}`)
    return min
  }

  optionalInteger(name: string, bounds: Bounds): number | null {
    return this.has(name) ? this.integer(name, bounds) : null
  }

  /** A list with at least one text. */
  texts(name: string): string[] {
    return this.list(name, (item, path) => {
      if (typeof item === 'string' && item !== '') return item
      this.#problems.add(path, `must be a text, not ${kindOf(item)}${quoteAdvice(item)}`)
      return ''
    })
  }

  list<T>(name: string, read: (item: unknown, path: Path) => T): T[] {
    const value = this.raw(name)
    if (Array.isArray(value) && value.length > 0)
      return value.map((item: unknown, i) => read(item, [...this.path, name, i]))
    if (value === undefined) this.problem(name, 'is missing')
    else this.problem(name, Array.isArray(value) ? 'must not be empty' : `must be a list, not ${kindOf(value)}`)
    return []
  }

  /** An object whose keys are the author's own, such as argument names. */
  entries<T>(name: string, read: (item: unknown, path: Path) => T): Record<string, T> {
    const value = this.raw(name)
    if (!isObject(value)) {
      this.problem(name, `must be an object, not ${kindOf(value)}`)
      return {}
    }
    return ownEntries(Object.entries(value).map(([key, item]) => [key, read(item, [...this.path, name, key])]))
  }

  object(name: string): Fields {
    return new Fields(this.raw(name) ?? {}, [...this.path, name], this.#problems)
  }

  /** Refuses every field that was not asked for. */
  end(): void {
    for (const name of Object.keys(this.#value))
      if (!this.#asked.has(name)) this.problem(name, `is not a field here${didYouMean(name, [...this.#asked])}`)
  }
}

/** `Object.fromEntries` defines properties, so that `__proto__` becomes a key like any other. */
function ownEntries<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries)
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  return typeof value === 'number' ? 'a number' : 'true or false'
}

function shown(value: unknown): string {
  return typeof value === 'string' ? printable(value) : typeof value === 'number' ? String(value) : kindOf(value)
}

function didYouMean(value: unknown, known: readonly string[]): string {
  const close = typeof value === 'string' ? nearest(value, known) : undefined
  return close === undefined ? '' : `; did you mean ${close}?`
}

function quoteAdvice(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? ' (put it in quotes)' : ''
}
