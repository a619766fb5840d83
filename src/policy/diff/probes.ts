// Calls to try two policies on: what their rules name, what servers list, what was recorded.
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { DIFF_PROBES_MAX } from '../../limits.ts'
import type { Annotations, ArgsMatch, NameMatch, Rule, Scalar, Snapshot, ValueMatch } from '../types.ts'

export interface Probe {
  readonly server: string
  readonly tool: string
  readonly annotations: Annotations | undefined
  readonly args: Readonly<Record<string, unknown>>
  readonly source: 'bundle' | 'tools' | 'run'
}

/** Each once, the most telling first, and no more than are worth a look. */
export class Probes {
  readonly #all = new Map<string, Probe>()
  #leftOff = 0

  add(probe: Probe): void {
    const key = canonicalHash(canonicalJson([probe.server, probe.tool, probe.args]))
    if (this.#all.has(key)) return
    if (this.#all.size >= DIFF_PROBES_MAX) this.#leftOff += 1
    else this.#all.set(key, probe)
  }

  get list(): readonly Probe[] {
    return [...this.#all.values()]
  }

  /** How many more there would have been. */
  get leftOff(): number {
    return this.#leftOff
  }
}

/** A name that no rule knows stands for everything that nobody has named. */
const ANYTHING = 'some-other-tool'
const ANY_SERVER = 'some-server'

export interface NamedTool {
  readonly server: string
  readonly tool: string
  readonly annotations: Annotations | undefined
}

/** Tools that are named in either bundle or listed by a server, each without arguments and with those that some rule looks for. */
export function probeBundles(probes: Probes, snapshots: readonly Snapshot[], listed: readonly NamedTool[]): void {
  const rules = snapshots.flatMap((snapshot) => snapshot.rules).filter(({ enabled }) => enabled)
  const tools = [...listed, ...rules.flatMap(toolsOf), { server: ANY_SERVER, tool: ANYTHING, annotations: undefined }]
  const samples = [
    {},
    ...rules.flatMap(({ match: { args, shell } }) => [
      ...(args === undefined ? [] : [argsFor(args)]),
      ...(shell?.runs ?? []).map((command) => ({ command })),
    ]),
  ]
  for (const args of samples)
    for (const tool of tools) probes.add({ ...tool, args, source: listed.includes(tool) ? 'tools' : 'bundle' })
}

function toolsOf({ match: { server_name, tool_name, method } }: Rule): NamedTool[] {
  if (method !== undefined) return []
  const servers = namesIn(server_name, ANY_SERVER)
  return namesIn(tool_name, ANYTHING).flatMap((tool) =>
    servers.map((server) => ({ server, tool, annotations: undefined })),
  )
}

/** Names as written; of a glob one that it matches. What a regex matches is not made up. */
function namesIn(names: NameMatch | undefined, other: string): readonly string[] {
  if (names === undefined) return [other]
  return names.glob.flatMap((glob) => (/[[\]\\]/.test(glob) ? [] : [glob.replaceAll('*', 'x').replaceAll('?', 'x')]))
}

/** Arguments that pass the predicates, as far as values are written in them. */
function argsFor(match: ArgsMatch): Record<string, unknown> {
  const args: Record<string, unknown> = {}
  for (const key of match.has_keys) args[key] = 'x'
  for (const [key, { min, max }] of Object.entries(match.numeric_range)) args[key] = min ?? max
  for (const [key, [first]] of Object.entries(match.key_in)) args[key] = first
  for (const [key, value] of Object.entries(match.key_equals)) args[key] = value
  for (const [path, value] of Object.entries(match.at ?? {}))
    if (/^\w+$/.test(path)) args[path] = sampleOf(value) ?? args[path] ?? 'x'
  if (match.path_within !== undefined) args['path'] = match.path_within.scopes[0]
  if (match.path_outside !== undefined) args['path'] = '../outside'
  return args
}

function sampleOf({ equals, in: listed, range, glob }: ValueMatch): Scalar | undefined {
  return equals ?? listed?.[0] ?? range?.min ?? range?.max ?? glob[0]?.replaceAll('*', 'x').replaceAll('?', 'x')
}
