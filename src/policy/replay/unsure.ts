// Where a record does not show what a rule looks at: the plans that remain possible for one call.
import { ANNOTATIONS } from '../match/annotations.ts'
import { compileNames } from '../match/names.ts'
import { CALL_METHOD, type Plan, type Policy, type Step } from '../decide/plan.ts'
import type { Annotations } from '../types.ts'
import type { RecordedCall } from './recorded.ts'

/** What replay is told besides the record. */
export interface Known {
  /** What the server says of the tool; undefined where nobody has said. Records do not have it. */
  readonly annotationsOf: (server: string, tool: string) => Annotations | undefined
  /** Take paths as written, from a folder in which nothing is a link. */
  readonly arePathsWritten: boolean
}

/** Plans of the call for everything that its server may have said of the tool. */
export function plansOf(policy: Policy, call: RecordedCall, known: Known): readonly Plan[] {
  const { server, tool, method } = call
  if (method !== null && method !== CALL_METHOD) return [policy.planForMethod(server, method)]
  const said = known.annotationsOf(server, tool)
  if (said !== undefined) return [policy.planFor(server, tool, said)]
  return sayings(policy, server).map((one) => policy.planFor(server, tool, one))
}

const NOTHING: readonly (Annotations | undefined)[] = [undefined]
/** By policy and server, so that a plan which was made for a saying is found again. */
const bySnapshot = new WeakMap<object, Map<string, readonly (Annotations | undefined)[]>>()

/** Every combination of what rules of the policy ask a believed server about; only nothing where they ask nothing. */
function sayings({ snapshot }: Policy, server: string): readonly (Annotations | undefined)[] {
  let byServer = bySnapshot.get(snapshot)
  if (byServer === undefined) bySnapshot.set(snapshot, (byServer = new Map()))
  let all = byServer.get(server)
  if (all === undefined) {
    const isBelieved = compileNames({ glob: snapshot.trust_annotations ?? [], regex: [] })(server) === true
    const asked = isBelieved
      ? ANNOTATIONS.filter((name) => snapshot.rules.some(({ match }) => match.annotations?.[name] !== undefined))
      : []
    all = asked.length === 0 ? NOTHING : combinations(asked)
    byServer.set(server, all)
  }
  return all
}

function combinations(names: readonly (keyof Annotations)[]): Annotations[] {
  return names.reduce<Annotations[]>(
    (all, name) =>
      all.flatMap((one) => [
        { ...one, [name]: false },
        { ...one, [name]: true },
      ]),
    [{}],
  )
}

/** Steps of which nobody can say whether they speak of the call, by their place. */
export function unsureSteps({ steps }: Plan, call: RecordedCall, known: Known): ReadonlySet<number> {
  const unsure = new Set<number>()
  const classes = new Set<string>()
  steps.forEach((step, i) => {
    // A class that may or may not have been given makes rules unsure that want it.
    const isUnsure = isHidden(step, call, known) || step.classes?.some((name) => classes.has(name)) === true
    if (!isUnsure) return
    unsure.add(i)
    if (step.rule.kind === 'tag') for (const name of step.rule.effect.tag.add_risk_class) classes.add(name)
  })
  return unsure
}

function isHidden({ args: test, rule }: Step, { args, argsHash }: RecordedCall, { arePathsWritten }: Known): boolean {
  if (test === null || args === 'uninspectable' || args === 'ambiguous') return false
  // Without a hash it could not be read then either: it was too large, or ambiguous.
  if (args === 'unseen') return argsHash !== ''
  if (test.pathsOf === null || arePathsWritten || test.pathsOf(args).length === 0) return false
  // Where a path leads is not in the record. One that leads nowhere known is outside; what does not match then never does.
  return rule.match.args?.path_within !== undefined || test.holds(args, new Map()) !== false
}

type Found = ReturnType<NonNullable<Step['args']>['holds']>

/** The plan as if none of the unsure steps spoke of the call, then as if each one did, or could not be evaluated. */
export function readingsOf(plan: Plan, unsure: ReadonlySet<number>): readonly Plan[] {
  if (unsure.size === 0) return [plan]
  const base = plan.steps.map((step, i) => (unsure.has(i) && step.args !== null ? held(step, false) : step))
  const put = (i: number, step: Step): Plan => ({ ...plan, fixed: null, steps: base.with(i, step) })
  return [
    { ...plan, fixed: null, steps: base },
    ...[...unsure].flatMap((i) => {
      const step = plan.steps[i] as Step
      if (step.args === null) return [put(i, { ...step, classes: null })]
      return ([true, 'ambiguous', 'unknown'] as const).map((found) => put(i, { ...held(step, found), classes: null }))
    }),
  ]
}

function held(step: Step, found: Found): Step {
  return { ...step, isPlain: false, args: { holds: () => found, pathsOf: null } }
}
