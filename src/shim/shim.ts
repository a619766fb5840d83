// The beginning of a shim: who it is, and the server, which takes longest to start. All else is loaded meanwhile.
import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { Env } from '../paths.ts'
import type { Retention } from '../runs/prune.ts'
import type { DenyAs } from './call/refusals.ts'
import { identityProblem, readIdentity } from '../runs/run-identity.ts'
import type { PolicyOrigin } from './policy-source.ts'
import type { BindingsOrigin } from './secrets/origin.ts'
import type { Secrets } from './secrets/secrets.ts'
import { StderrOut } from './server/stderr-out.ts'
import { startUpstream, unstarted, type Upstream } from './server/upstream.ts'
import { upstreamEnv } from './server/upstream-env.ts'

/** A server that the shim starts, and talks to over its stdin and stdout. */
export interface ProgramServer {
  readonly kind: 'program'
  readonly command: readonly string[]
  readonly passEnv: readonly string[] | undefined
  readonly ledgerServer: string | undefined
}

/** A server that is reached by HTTP; clients reach it through an address on loopback. */
export interface RemoteServer {
  readonly kind: 'remote'
  readonly url: URL
  readonly listen: { readonly host: string; readonly port: number }
  readonly headers: Readonly<Record<string, string>>
}

export interface ShimOptions {
  readonly serverName: string
  readonly server: ProgramServer | RemoteServer
  readonly secretBindings: BindingsOrigin
  readonly policy: PolicyOrigin
  readonly events: 'stderr' | { readonly path: string } | null
  readonly denyAs: DenyAs
  readonly isVerbose: boolean
  /** How long a run without owner stays open when no shim takes part in it. */
  readonly quietMs: number
  /** How much of runs that have ended is kept. */
  readonly keepRuns: Retention
  /** To be said once there is somebody to hear it. */
  readonly notes: readonly string[]
  /** Finds the socket of the session that the agent runs in; undefined where there is none. */
  readonly sessionSocket: () => Promise<string | undefined>
  readonly env: Env
  readonly platform: NodeJS.Platform
  readonly cwd: string
  /** The process that started the shim, at its beginning. */
  readonly parent: number
  /** Asked again and again: it changes when the parent is gone. */
  readonly parentPid: () => number
  /** Where signals and warnings arrive: the process. */
  readonly signals: EventEmitter
  readonly clock: Clock
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

/** Runs until the client leaves, the server ends or a signal comes; returns the exit code. */
export async function runShim(options: ShimOptions): Promise<number> {
  const { env, cwd } = options
  const stderr = new StderrOut(options.stderr, { hasEvents: options.events === 'stderr' })
  const note = (line: string): void => stderr.note(line)
  // Before anything is said in which one of them could stand.
  const secrets = options.secretBindings.kind === 'none' ? null : await secretsOf(options, stderr)
  for (const line of options.notes) note(line)
  options.signals.on('warning', ({ name, message }: Error) => note(`${name}: ${message}`))
  const identity = readIdentity(env, cwd, note)
  const { server } = options
  // With nothing to hide it may start at once, and nothing reaches it before policy is loaded; a server with secrets
  // starts when policy is there, and what takes them out of all that is written. What else there is loads meanwhile.
  const early = server.kind === 'program' && secrets === null ? startServer(options, server, null, stderr) : null
  const { loadPolicy } = await import('./policy-source.ts')
  const started = {
    identity,
    stderr,
    secrets,
    loaded: await loadPolicy(options.policy, identity, identityProblem(env)),
  }
  if (server.kind === 'remote') {
    const [{ serve }, { overHttp }] = await Promise.all([import('./serve.ts'), import('./http/proxy.ts')])
    return serve(options, { ...started, adapter: overHttp({ shim: options, server, secrets, note }) })
  }
  const upstream = early ?? startServer(options, server, secrets, stderr)
  const [{ serve }, { overStdio }] = await Promise.all([import('./serve.ts'), import('./traffic/stdio.ts')])
  try {
    return await serve(options, { ...started, adapter: overStdio(upstream, options, note) })
  } catch (error) {
    // It was started ahead of what was in the way; nothing has reached it.
    await upstream.end({ patienceMs: null })
    throw error
  }
}

async function secretsOf(options: ShimOptions, stderr: StderrOut): Promise<Secrets> {
  const { findSecrets } = await import('./secrets/secrets.ts')
  const secrets = await findSecrets(
    options.secretBindings,
    options.serverName,
    options.server.kind === 'remote' ? 'headers' : 'variables',
    options,
  )
  stderr.redactWith(secrets.own)
  const { tellSession } = await import('./secrets/tell-session.ts')
  await tellSession(options.sessionSocket, secrets.searched, (line) => stderr.note(line))
  for (const line of [...secrets.warnings, ...secrets.problems]) stderr.note(line)
  return secrets
}

function startServer(
  { clock, cwd, env }: ShimOptions,
  { command, passEnv, ledgerServer }: ProgramServer,
  secrets: Secrets | null,
  stderr: StderrOut,
): Upstream {
  const note = (line: string): void => stderr.note(line)
  if (secrets !== null && secrets.problems.length > 0) return unstarted('not all of its secrets are there')
  // A mark of its own: with the shim's id a server could write what looks like an event of the shim.
  const mark = randomUUID()
  const given = upstreamEnv({ env, command, mark, passEnv, secrets, ledgerServer })
  const upstream = startUpstream({ command, env: given, cwd, mark, clock, note })
  upstream.stderr.on('data', (chunk: Buffer) => stderr.relay(chunk))
  upstream.stderr.once('end', () => stderr.relayEnded())
  return upstream
}
