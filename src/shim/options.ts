// What a shim is told: flags first, then the variables of the origin.
import type { Env } from '../paths.ts'
import type { DenyAs } from './call/refusals.ts'
import type { PolicyOrigin } from './policy-source.ts'
import { type BindingsOrigin, bindingsOrigin } from './secrets/origin.ts'

export interface ShimFlags {
  readonly 'server-name': string
  readonly policy: string | undefined
  readonly events: string | undefined
  readonly 'deny-as': DenyAs
  readonly 'pass-env': readonly string[]
  readonly 'secret-bindings': string | undefined
  readonly verbose?: boolean | undefined
}

export interface ShimSettings {
  readonly serverName: string
  readonly policy: PolicyOrigin
  readonly events: 'stderr' | { readonly path: string } | null
  readonly denyAs: DenyAs
  readonly passEnv: readonly string[] | undefined
  readonly secretBindings: BindingsOrigin
  /** Say on stderr which run this is and where its record lies. */
  readonly isVerbose: boolean
}

/** By the seed's name events go to stderr unless told otherwise, as with its origin. */
export function shimOptions(flags: ShimFlags, env: Env, isSeedName: boolean): ShimSettings {
  const events = flags.events ?? (isSeedName ? 'stderr' : undefined)
  return {
    serverName: flags['server-name'],
    policy: originOf(flags.policy, env['SUB_POLICY_JSON']),
    events: events === undefined ? null : events === 'stderr' ? 'stderr' : { path: events },
    denyAs: flags['deny-as'],
    passEnv: namesOf(flags['pass-env']),
    secretBindings: bindingsOrigin(flags['secret-bindings'], env),
    isVerbose: flags.verbose === true,
  }
}

function originOf(path: string | undefined, json: string | undefined): PolicyOrigin {
  if (path !== undefined) return { kind: 'file', path }
  // An empty text is a source that failed, not the wish for no policy.
  return json === undefined ? { kind: 'none' } : { kind: 'text', text: json, name: 'SUB_POLICY_JSON' }
}

/**
 * `--pass-env A,B --pass-env C`. `--pass-env=` names none, which is not the same as not being told; `*` names all, for
 * a server whose host reads its variables from a file.
 */
function namesOf(lists: readonly string[]): readonly string[] | undefined {
  const names = lists.flatMap((list) => list.split(',')).filter((name) => name !== '')
  return lists.length === 0 || names.includes('*') ? undefined : names
}
