// A shim whose server is starting: policy, run, the path of calls, and an orderly end.
import { within } from '../clock.ts'
import { EventText } from '../events/event-text.ts'
import { createRedact } from '../events/redact.ts'
import { createIdSource } from '../id-source.ts'
import { EVENT_CLOSE_MS } from '../limits.ts'
import type { Policy } from '../policy/decide/plan.ts'
import { type RunPart, takePart } from '../runs/taking-part.ts'
import { callPath } from './call/call-path.ts'
import { followPolicy, sayLoaded } from './follow-policy.ts'
import { refOf } from './call/call-gate.ts'
import type { readIdentity } from './run-identity.ts'
import { loadPolicy } from './policy-source.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { ShimOptions } from './shim.ts'
import { keepSignsOfLife } from './signs-of-life.ts'
import type { StderrOut } from './server/stderr-out.ts'
import type { Upstream } from './server/upstream.ts'

export interface Started {
  readonly identity: ReturnType<typeof readIdentity>
  /** The server, which is started now if it was not before. */
  readonly server: () => Upstream
  readonly stderr: StderrOut
  readonly secrets: Secrets | null
}

/** Runs until the client leaves, the server ends or a signal comes; returns the exit code. */
export async function serve(options: ShimOptions, started: Started): Promise<number> {
  const { clock } = options
  const { identity, server, stderr, secrets } = started
  const note = (line: string): void => stderr.note(line)
  const startMs = clock.monoMs()
  const { policy, problem, text: policySource } = await loadPolicy(options.policy, identity)
  if (problem !== null) note(`${problem.message}; calls take decision_on_error`)
  const upstream = server()
  const run: RunPart = await joinRun(options, started, policy, () => signOfLife())
  stderr.wrapIn(new EventText(run.text.identity, () => clock.wallMs()))
  const redact = createRedact(secrets?.own)
  const path = callPath(options, identity, { upstream, redact, secrets }, policy, run, note)
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
  await path.asking.close()
  await run.leave(status)
  path.state.close()
  stderr.sayEarly()
  await within(clock, EVENT_CLOSE_MS, stderr.drained())
  return exitCode
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
    newId: createIdSource(clock),
    identity,
    start: {
      started_at: new Date(clock.wallMs()).toISOString(),
      mode: policy.snapshot.mode,
      policy: refOf(policy),
    },
    events: events === 'stderr' ? { out: (lines) => stderr.events(lines) } : events,
    parentPid: options.parentPid(),
    quietMs,
    note,
    onTrouble(error, lost) {
      if (error !== null) {
        note(`events cannot be written: ${error.message}`)
        stderr.sayEarly()
        return
      }
      note(`events are written again; ${lost} were lost`)
      onRecovered()
    },
  })
}
