// When policy itself fails: no bundle, a broken one, an evaluation that throws. The default is visible and in one place.
import { isObject } from '../../plain-object.ts'
import { NO_READINGS } from './readings.ts'
import { readPolicyText } from '../bundle/text.ts'
import { HeimdallError } from '../../errors.ts'
import { type Plan, type Policy, openPolicy } from './plan.ts'
import { type Decision, type Defaults, type Subject, MODES, type Mode, type Snapshot } from '../types.ts'

interface Stated {
  readonly mode: Mode
  readonly decisionOnError: Defaults['decision_on_error']
}

/** A bundle that says nothing, or cannot be read at all, is enforced and blocks, as a whole bundle without `defaults` does. */
const NOTHING_STATED: Stated = { mode: 'guardrails', decisionOnError: 'BLOCK' }

/** What a broken bundle still says about errors. */
async function readStated(text: string): Promise<Stated> {
  try {
    const { value } = await readPolicyText(text, 'policy')
    if (!isObject(value)) return NOTHING_STATED
    const defaults = isObject(value['defaults']) ? value['defaults'] : {}
    return {
      mode: MODES.find((mode) => mode === value['mode']) ?? NOTHING_STATED.mode,
      decisionOnError: defaults['decision_on_error'] === 'ALLOW' ? 'ALLOW' : NOTHING_STATED.decisionOnError,
    }
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'POLICY_INVALID') return NOTHING_STATED
    throw error
  }
}

/** Requests that set up a connection or list what a server has: without them a client cannot even show the error. */
const SETS_UP: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
])

/**
 * The policy of a shim that was told to use a bundle and cannot: every call, and every other request that does more than
 * set up the connection, takes the `decision_on_error` that the text still states, in the mode that it still states.
 * `text` is null when there was nothing to read.
 */
export async function openPolicyOnError(text: string | null, identity: Subject): Promise<Policy> {
  const { mode, decisionOnError } = text === null ? NOTHING_STATED : await readStated(text)
  const snapshot: Snapshot = {
    policy_id: 'unreadable',
    version: '0',
    policy_hash: '',
    mode,
    defaults: {
      decision_on_error: decisionOnError,
      fail_open_read_tools: false,
      decision_on_no_match: decisionOnError,
    },
    selectors: {},
    rules: [],
  }
  const policy = openPolicy(snapshot, identity)
  const decision = decideOnError(policy, [], 'the policy could not be loaded')
  const always = (plan: Plan): Plan => ({
    ...plan,
    fallback: decision,
    fixed: { decision, counters: NO_READINGS, writes: [], end: null, tags: [], tripped: [] },
  })
  return {
    ...policy,
    planFor: (server, tool, annotations) => always(policy.planFor(server, tool, annotations)),
    planForMethod: (server, method) => always(policy.planForMethod(server, method)),
    governs: (method) => !SETS_UP.has(method),
  }
}

/** The answer when `decide` or a store of counters throws. `tags` are those of the plan, for `fail_open_read_tools`. */
export function decideOnError({ snapshot }: Policy, tags: readonly string[], what: string): Decision {
  const { decision_on_error, fail_open_read_tools } = snapshot.defaults
  const isReadTool = tags.includes('read_like') && !tags.includes('write_like')
  return {
    action: fail_open_read_tools && isReadTool ? 'ALLOW' : decision_on_error,
    rule_id: null,
    severity: 'critical',
    reason_code: 'POLICY_ERROR',
    summary: what,
    enforced: snapshot.mode !== 'observe',
  }
}
