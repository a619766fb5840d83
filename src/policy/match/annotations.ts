// What a server says of its tools, as far as the bundle believes it; what is not known counts as the dangerous value.
import type { Fields } from '../bundle/fields.ts'
import type { Annotations } from '../types.ts'

/** MCP's own defaults, which are the dangerous ones. */
const DANGEROUS: Required<Annotations> = { read_only: false, destructive: true, idempotent: false, open_world: true }

export const ANNOTATIONS = Object.keys(DANGEROUS) as (keyof Annotations)[]

/** `said` is undefined for a tool of which nothing is known, and for a server that is not believed. */
export function isAnnotated(wanted: Annotations, said: Annotations | undefined): boolean {
  const known = { ...DANGEROUS, ...said }
  // Whoever only reads destroys nothing; MCP gives the one word no meaning beside the other.
  if (said?.read_only === true && said.destructive === undefined) known.destructive = false
  return ANNOTATIONS.every((name) => wanted[name] === undefined || wanted[name] === known[name])
}

export function readAnnotations(fields: Fields): Annotations {
  const said = ANNOTATIONS.flatMap((name) => (fields.has(name) ? [[name, fields.flag(name, false)] as const] : []))
  fields.end()
  if (said.length === 0) fields.problem(undefined, `says nothing: give it ${ANNOTATIONS.join(', ')}`)
  return Object.fromEntries(said)
}
