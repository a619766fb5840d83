// A policy file that changes while the shim runs: a valid new one replaces the old one between two calls, an invalid one is refused.
import type { HeimdallError } from '../errors.ts'
import type { Policy } from '../policy/decide/plan.ts'
import type { RunPart } from '../runs/taking-part.ts'
import type { CallGate } from './call/call-gate.ts'
import { refOf } from './policy-ref.ts'
import { identityProblem, type readIdentity } from '../runs/run-identity.ts'
import { loadPolicy, type PolicyWatch, watchPolicy } from './policy-source.ts'
import type { ShimOptions } from './shim.ts'

export function followPolicy(
  options: ShimOptions,
  identity: ReturnType<typeof readIdentity>,
  loaded: string | null,
  gate: CallGate,
  run: RunPart,
  note: (line: string) => void,
): PolicyWatch | null {
  const { policy: origin, clock, signals } = options
  if (origin.kind !== 'file') return null
  const report = (policy: Policy, problem: HeimdallError | null): void => {
    if (problem !== null) note(`${problem.message}; the policy in force stays`)
    sayLoaded(run, gate, policy, problem)
  }
  // One after the other: a slow compilation must not overtake a later, quicker one.
  let last = Promise.resolve()
  const watch = watchPolicy({
    path: origin.path,
    loaded,
    clock,
    note,
    onChange: () => {
      last = last.then(async () => {
        const { policy, problem } = await loadPolicy(origin, identity, identityProblem(options.env))
        if (problem === null) gate.usePolicy(policy)
        report(problem === null ? policy : gate.policy, problem)
      })
    },
  })
  signals.on('SIGUSR2', () => watch.look())
  return watch
}

export function sayLoaded({ say }: RunPart, gate: CallGate, policy: Policy, problem: HeimdallError | null): void {
  say((text) =>
    text.policyLoaded(refOf(policy), policy.snapshot.mode, {
      ok: problem === null,
      ...(problem === null ? {} : { message: gate.words.clean(problem.message) }),
    }),
  )
}
