// A shim whose server is starting: policy, run, the path of calls, and an orderly end.
import { within } from '../clock.ts'
import { EventText } from '../events/event-text.ts'
import { createRedact } from '../events/redact.ts'
import { EVENT_CLOSE_MS } from '../limits.ts'
import { openPolicy, type Policy } from '../policy/decide/plan.ts'
import type { Locations } from '../policy/types.ts'
import { type RunPart, takePart } from '../runs/taking-part.ts'
import type { Adapter } from './call/adapter.ts'
import { callPath } from './call/call-path.ts'
import { PathLocations } from './call/path-locations.ts'
import { followPolicy, sayLoaded } from './follow-policy.ts'
import { refOf } from './policy-ref.ts'
import { identityProblem, type readIdentity } from '../runs/run-identity.ts'
import { type Loaded, loadPolicy } from './policy-source.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { ShimOptions } from './shim.ts'
import { keepSignsOfLife } from './signs-of-life.ts'
import type { StderrOut } from './server/stderr-out.ts'

export interface Started {
  readonly identity: ReturnType<typeof readIdentity>
  readonly adapter: Adapter
  readonly stderr: StderrOut
  readonly secrets: Secrets | null
  /** The policy, for whoever the identity names. */
  readonly loaded: Loaded
}

/** Runs until the client leaves, the server ends or a signal comes; returns the exit code. */
export async function serve(options: ShimOptions, started: Started): Promise<number> {
  const { clock } = options
  const { identity: given, adapter, stderr, secrets, loaded } = started
  const note = (line: string): void => stderr.note(line)
  const startMs = clock.monoMs()
  const { openClaimCheck } = await import('./call/claim-check.ts')
  const { env, cwd } = options
  // Made now: the folder may be removed while the shim runs.
  const paths = new PathLocations(cwd, env['HOME'])
  const locate = (texts: readonly string[]): Locations => paths.locate(texts)
  const claims = await openClaimCheck({ env, cwd, clock, locate, note })
  // A host that nobody has told who it is goes by what its processes say, as its hooks do.
  const agent = given.agent_id === 'unknown' ? await claims?.agent() : undefined
  const identity = agent === undefined ? given : { ...given, ...agent }
  const {
    policy,
    problem,
    text: policySource,
  } = agent === undefined ? loaded : await loadedFor(loaded, options, identity)
  const unidentified = identityProblem(env)
  if (problem !== null) note(`${problem.message}; calls take decision_on_error`)
  else if (unidentified !== undefined) note(`${unidentified}; events say unknown`)
  const run: RunPart = await joinRun(options, { ...started, identity }, policy, () => signOfLife())
  stderr.wrapIn(new EventText(run.text.identity, () => clock.wallMs()))
  const redact = createRedact(secrets?.own)
  const path = callPath({ options, identity, guarded: { redact, secrets }, policy, run, claims, locate, note, adapter })
  const signOfLife = (): void =>
    run.say((text) =>
      text.shimHealth({
        uptime_ms: Math.round(clock.monoMs() - startMs),
        events_lost: run.events.eventsLost,
        record: run.recordPlace,
        ...path.facts(),
      }),
    )
  const policyWatch = followPolicy(options, path.named, policySource, path.gate, run, note)
  sayLoaded(run, path.gate, policy, problem)
  for (const injection of secrets?.injections ?? []) run.say((text) => text.secretInjection(injection))
  if (options.isVerbose) note(`run ${run.runId}, record ${run.recordPlace}`)
  const health = keepSignsOfLife(options, signOfLife, note)
  const { exitCode, status } = await path.traffic.ended
  health.cancel()
  policyWatch?.close()
  path.pins.close()
  await path.asking.close()
  await claims?.close()
  await run.leave(status)
  stderr.sayEarly()
  await within(clock, EVENT_CLOSE_MS, stderr.drained())
  return exitCode
}

/** The same policy for somebody else than it was loaded for. */
async function loadedFor(loaded: Loaded, options: ShimOptions, identity: Started['identity']): Promise<Loaded> {
  if (loaded.problem !== null) return loadPolicy(options.policy, identity, identityProblem(options.env))
  return { ...loaded, policy: openPolicy(loaded.policy.snapshot, identity) }
}

function joinRun(
  options: ShimOptions,
  { identity, stderr }: Started,
  policy: Policy,
  onRecovered: () => void,
): Promise<RunPart> {
  const { clock, env, events, quietMs } = options
  const note = (line: string): void => stderr.note(line)
  return takePart({
    env,
    clock,
    identity,
    start: { mode: policy.snapshot.mode, policy: refOf(policy) },
    events: events === 'stderr' ? { out: (lines) => stderr.events(lines) } : events,
    parentPid: options.parent,
    quietMs,
    note,
    onTrouble(error, lost, excess) {
      if (error !== null) {
        note(`events cannot be written: ${error.message}`)
        stderr.sayEarly()
        return
      }
      note(`events are written again; ${lost} were lost`)
      for (const { rule_id, counter, over } of excess)
        note(`budget ${rule_id} was exceeded by ${over} ${counter} while events could not be written`)
      onRecovered()
    },
  })
}
