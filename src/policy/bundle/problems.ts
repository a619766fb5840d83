// What is wrong with a bundle: every finding with its path, and its line once the text is at hand.
import { HeimdallError } from '../../errors.ts'
import { POLICY_PROBLEMS_MAX } from '../../limits.ts'

export type Path = readonly (string | number)[]

export interface Position {
  readonly line: number
  readonly column: number
}

export interface Problem {
  /** `rules[2].match.args`; empty for the bundle as a whole. */
  readonly path: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}

/** Where in the text the value at a path stands, or its key; undefined where nothing is written there. */
export type Locate = (path: Path) => Position | undefined

export class Problems {
  readonly #found: { readonly path: Path; readonly message: string }[] = []

  add(path: Path, message: string): void {
    if (this.#found.length < POLICY_PROBLEMS_MAX) this.#found.push({ path, message })
  }

  get isEmpty(): boolean {
    return this.#found.length === 0
  }

  located(locate: Locate): Problem[] {
    return this.#found.map(({ path, message }) => ({ path: pathText(path), message, ...nearest(locate, path) }))
  }
}

/** A missing field has no place of its own: then the nearest thing around it is named. */
function nearest(locate: Locate, path: Path): Position | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const position = locate(path.slice(0, length))
    if (position !== undefined) return position
  }
  return undefined
}

export function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')
}

export function problemText(name: string, { path, message, line, column }: Problem): string {
  const place = line === undefined ? name : `${name}:${line}:${column}`
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`
}

/** One error for all problems of a bundle; the first in the message, all in `details.problems`. */
export function invalidPolicy(name: string, problems: readonly Problem[]): HeimdallError {
  const [first = { path: '', message: 'not a policy bundle' }, ...rest] = problems
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`
  return new HeimdallError('POLICY_INVALID', `${problemText(name, first)}${more}`, {
    hint: `heimdall policy lint ${name} lists every problem`,
    details: { problems },
  })
}
