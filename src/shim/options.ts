// What a shim is told: flags first, then the variables of the origin.
import { HeimdallError } from '../errors.ts'
import type { Env } from '../paths.ts'
import type { DenyAs } from './call/refusals.ts'
import type { PolicyOrigin } from './policy-source.ts'
import { remoteServer } from './http/remote-server.ts'
import { type BindingsOrigin, bindingsOrigin } from './secrets/origin.ts'
import type { ProgramServer, RemoteServer } from './shim.ts'

export interface ShimFlags {
  readonly 'server-name': string
  readonly policy: string | undefined
  readonly events: string | undefined
  readonly 'deny-as': DenyAs
  readonly 'pass-env': readonly string[]
  readonly 'secret-bindings': string | undefined
  readonly url: string | undefined
  readonly listen: string | undefined
  readonly header: readonly string[]
  readonly verbose?: boolean | undefined
}

export interface ShimSettings {
  readonly serverName: string
  readonly policy: PolicyOrigin
  readonly events: 'stderr' | { readonly path: string } | null
  readonly denyAs: DenyAs
  readonly server: ProgramServer | RemoteServer
  readonly secretBindings: BindingsOrigin
  /** Say on stderr which run this is and where its record lies. */
  readonly isVerbose: boolean
}

/** By the seed's name events go to stderr unless told otherwise, as with its origin. */
export function shimOptions(
  flags: ShimFlags,
  program: Pick<ProgramServer, 'command' | 'ledgerServer'>,
  env: Env,
  isSeedName: boolean,
): ShimSettings {
  const events = flags.events ?? (isSeedName ? 'stderr' : undefined)
  return {
    serverName: flags['server-name'],
    policy: originOf(flags.policy ?? filled(env['SUB_POLICY_FILE']), env['SUB_POLICY_JSON']),
    events: events === undefined ? null : events === 'stderr' ? 'stderr' : { path: events },
    denyAs: flags['deny-as'],
    server: serverOf(flags, program),
    secretBindings: bindingsOrigin(flags['secret-bindings'], env),
    isVerbose: flags.verbose === true,
  }
}

/** `SUB_POLICY_FILE` is how a run hands its policy to all its shims, so that they take up a new one together. */
const filled = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

function serverOf(
  flags: ShimFlags,
  program: Pick<ProgramServer, 'command' | 'ledgerServer'>,
): ProgramServer | RemoteServer {
  const { url, listen, header, 'pass-env': passEnv } = flags
  const hasCommand = program.command.length > 0
  if (url === undefined) {
    if (!hasCommand)
      throw usage(
        'no server to start: give its command line after --',
        'heimdall mcp shim --server-name=git -- mcp-server-git',
      )
    if (listen !== undefined || header.length > 0) throw usage('--listen and --header are for a server with --url')
    return { kind: 'program', ...program, passEnv: namesOf(passEnv) }
  }
  if (hasCommand) throw usage('a server is either a command line after -- or a --url, not both')
  if (passEnv.length > 0) throw usage('--pass-env is for a server that is started, not for one with --url')
  return remoteServer(url, listen, header)
}

const usage = (message: string, hint?: string): HeimdallError =>
  new HeimdallError('USAGE', message, hint === undefined ? {} : { hint })

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
