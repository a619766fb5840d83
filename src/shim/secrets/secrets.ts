// The secrets of one server: found before it is started, given to it alone, and known to whatever we write.
import { KnownSecrets } from '../../known-secrets/known-secrets.ts'
import { type Binding, readBindings } from './bindings.ts'
import { fitsHeader, type Into } from './injectable.ts'
import type { BindingsOrigin } from './origin.ts'
import { resolveSecret, type ResolveOptions, variablesOf } from './resolve.ts'
import { isShort, isTooShortToFind } from './value.ts'

/** What an event says of a secret (seed 004 §4.1): never its value. */
export interface SecretNames {
  readonly inject_as: string
  readonly secret_ref: string
  readonly source: Binding['source']
}

export interface Injection extends SecretNames {
  readonly success: boolean
}

export interface Secrets {
  /** What the server gets, by `inject_as`. */
  readonly values: Readonly<Record<string, string>>
  /** Variables that secrets come from, of this server or of another; as they are they go to none. */
  readonly heldIn: ReadonlySet<string>
  readonly injections: readonly Injection[]
  /** Why the server is not to be started, a line each. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** Taken out of previews of what passes; null where there is none. */
  readonly passing: KnownSecrets | null
  /** Taken out of all that we say ourselves: those with `redact: false` too. */
  readonly own: KnownSecrets | null
  /** Those that are looked for in what passes, for whoever else writes down what the agent shows. */
  readonly searched: readonly string[]
  /** Which of them stand in some bytes. */
  readonly namesIn: (bytes: Buffer) => readonly SecretNames[]
}

export const NO_SECRETS: Secrets = {
  values: {},
  heldIn: new Set(),
  injections: [],
  problems: [],
  warnings: [],
  passing: null,
  own: null,
  searched: [],
  namesIn: () => [],
}

interface Found {
  readonly binding: Binding
  readonly value: string
}

/** Never fails: without all of its secrets a server is not started, and why is said. */
export async function findSecrets(
  origin: BindingsOrigin,
  serverName: string,
  into: Into,
  options: ResolveOptions,
): Promise<Secrets> {
  const { bindings, refsOfOthers, problems, isForOthers } = readBindings(origin, serverName, into)
  const inVariables = bindings.filter(({ source }) => source === 'env').map(({ secret_ref: ref }) => ref)
  const heldIn = new Set([...inVariables, ...refsOfOthers].flatMap(variablesOf))
  if (problems.length > 0) return { ...NO_SECRETS, heldIn, problems }
  const warnings = isForOthers ? [`the secret bindings name other servers than ${serverName}`] : []
  const looked = await Promise.all(
    bindings.map(async (binding) => ({ binding, looked: await resolveSecret(binding, options) })),
  )
  const found: Found[] = []
  const injections: Injection[] = []
  const unresolved: string[] = []
  for (const { binding, looked: one } of looked) {
    const why = 'problem' in one ? one.problem : whyNotBound(binding, one.value, into)
    if (why !== null)
      unresolved.push(`there is no ${binding.inject_as} by the name ${binding.secret_ref}, because ${why}`)
    else if ('value' in one) found.push({ binding, value: one.value })
    injections.push({ ...namesOf(binding), success: why === null })
    if ('value' in one && why === null && isShort(one.value) && binding.redact)
      warnings.push(`the secret ${binding.secret_ref} is short: other words that look like it are taken out as well`)
  }
  const own = knownOf(found)
  return {
    values: Object.fromEntries(found.map(({ binding, value }) => [binding.inject_as, value])),
    heldIn,
    injections,
    problems: unresolved,
    warnings,
    // One for both where nothing tells them apart: to prepare the search is most of what secrets add to a start.
    passing: found.every(({ binding }) => binding.redact)
      ? own
      : knownOf(found.filter(({ binding }) => binding.redact)),
    own,
    searched: valuesOf(found.filter(({ binding }) => binding.redact)),
    namesIn: (bytes) => namesIn(found, bytes),
  }
}

function whyNotBound({ redact }: Binding, value: string, into: Into): string | null {
  if (into === 'headers' && !fitsHeader(value)) return 'its value cannot stand in a header, which is one line of ASCII'
  if (!redact || !isTooShortToFind(value)) return null
  return 'its value is too short to be found again in what is written; make it longer, or say "redact": false'
}

function knownOf(found: readonly Found[]): KnownSecrets | null {
  const values = valuesOf(found)
  return values.length === 0 ? null : new KnownSecrets(values)
}

const valuesOf = (found: readonly Found[]): readonly string[] =>
  found.map(({ value }) => value).filter((value) => !isTooShortToFind(value))

function namesIn(found: readonly Found[], bytes: Buffer): readonly SecretNames[] {
  return found
    .filter((one) => (knownOf([one])?.look(bytes).found.length ?? 0) > 0)
    .map(({ binding }) => namesOf(binding))
}

const namesOf = ({ inject_as, secret_ref, source }: Binding): SecretNames => ({ inject_as, secret_ref, source })
