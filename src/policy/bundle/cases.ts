// Test cases for a bundle: calls in order over virtual time, and what each must get. See docs/policy.md.
import { canonicalHash, canonicalJson } from '../../canonical/canonical.ts'
import { readAnnotations } from '../match/annotations.ts'
import { decide, settle } from '../decide/decide.ts'
import { isObject } from '../../plain-object.ts'
import { Fields, kindOf } from './fields.ts'
import { writtenLocations } from '../match/locations.ts'
import { MemoryCounters } from '../decide/memory-counters.ts'
import { CALL_METHOD, openPolicy } from '../decide/plan.ts'
import { Problems, invalidPolicy } from './problems.ts'
import { readPolicyText } from './text.ts'
import {
  ACTIONS,
  type Annotations,
  type Decision,
  HINT_KINDS,
  type Subject,
  type Snapshot,
  type Verdict,
} from '../types.ts'

interface Expected {
  readonly action: Decision['action']
  readonly rule_id?: string | null
  readonly reason_code?: string
  readonly hint_kind?: string
  readonly suggested_args?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
}

interface CaseCall {
  readonly server: string
  readonly tool: string
  /** Of another request than a tool call; then there is no tool. */
  readonly method: string
  /** What the server says of the tool. */
  readonly annotations: Annotations
  readonly args: Readonly<Record<string, unknown>> | 'uninspectable'
  /** Virtual time that passes before the call. */
  readonly afterMs: number
  readonly times: number
  readonly result: 'ok' | 'error'
  /** What a person has said of it; null when nobody was asked. */
  readonly approved: 'allow' | 'deny' | null
  readonly expect: Expected
}

interface Case {
  readonly name: string
  readonly startMs: number
  readonly identity: Subject
  readonly calls: readonly CaseCall[]
}

export interface CaseFile {
  /** As written, relative to the file; null when the command line says which. */
  readonly policy: string | null
  readonly cases: readonly Case[]
}

export interface CaseResult {
  readonly name: string
  readonly passed: boolean
  /** One line for each call that got something else, however often it was repeated. */
  readonly failures: readonly string[]
}

export async function readCases(text: string, name: string): Promise<CaseFile> {
  const { value, locator } = await readPolicyText(text, name)
  const problems = new Problems()
  const fields = new Fields(value, [], problems)
  const file = {
    policy: fields.optionalText('policy') ?? null,
    cases: fields.list('cases', (item, path) => readCase(new Fields(item, path, problems), problems)),
  }
  fields.end()
  if (!problems.isEmpty) throw invalidPolicy(name, problems.located(await locator()))
  return file
}

const START = '2026-01-01T12:00:00Z'

function readCase(fields: Fields, problems: Problems): Case {
  const start = fields.text('start', START)
  if (Number.isNaN(Date.parse(start))) fields.problem('start', 'is not a time in RFC 3339')
  const read = {
    name: fields.text('name'),
    startMs: Date.parse(start),
    identity: readIdentity(fields.object('identity')),
    calls: fields.has('calls')
      ? fields.list('calls', (item, path) => readCall(new Fields(item, path, problems)))
      : [readCallFields(fields)],
  }
  fields.end()
  return read
}

function readIdentity(fields: Fields): Subject {
  const workload = fields.raw('workload')
  const identity = {
    env: fields.text('env', 'dev'),
    agent_id: fields.text('agent_id', 'unknown'),
    client: fields.text('client', 'custom'),
    ...(isObject(workload) ? { workload: workload as NonNullable<Subject['workload']> } : {}),
  }
  fields.end()
  return identity
}

function readCall(fields: Fields): CaseCall {
  const call = readCallFields(fields)
  fields.end()
  return call
}

function readCallFields(fields: Fields): CaseCall {
  const args = fields.raw('args') ?? {}
  if (!isObject(args) && args !== 'uninspectable')
    fields.problem('args', `must be an object or the word uninspectable, not ${kindOf(args)}`)
  return {
    server: fields.text('server'),
    tool: fields.has('method') ? fields.text('tool', '') : fields.text('tool'),
    method: fields.text('method', CALL_METHOD),
    annotations: fields.has('annotations') ? readAnnotations(fields.object('annotations')) : NOTHING_SAID,
    args: isObject(args) ? args : 'uninspectable',
    afterMs: fields.integer('after_ms', { min: 0 }, 0),
    times: fields.integer('times', { min: 1, max: 10_000 }, 1),
    result: fields.choice('result', ['ok', 'error'], 'ok'),
    approved: fields.has('approved') ? fields.choice('approved', ['allow', 'deny']) : null,
    expect: readExpected(fields),
  }
}

const NOTHING_SAID: Annotations = {}

/** `expect: BLOCK` is short for `expect: {action: BLOCK}`. */
function readExpected(fields: Fields): Expected {
  if (typeof fields.raw('expect') === 'string' || !fields.has('expect'))
    return { action: fields.choice('expect', ACTIONS) }
  const expected = fields.object('expect')
  const hasRule = expected.has('rule_id')
  const suggested = expected.raw('suggested_args')
  const read = {
    action: expected.choice('action', ACTIONS),
    ...(hasRule ? { rule_id: expected.text('rule_id') } : {}),
    ...(expected.has('reason_code') ? { reason_code: expected.text('reason_code') } : {}),
    ...(expected.has('hint_kind') ? { hint_kind: expected.choice('hint_kind', HINT_KINDS) } : {}),
    ...(isObject(suggested) ? { suggested_args: suggested } : {}),
    ...(expected.has('tags') ? { tags: expected.texts('tags') } : {}),
  }
  expected.end()
  return read
}

/** Each case is a run of its own, with counters of its own. */
export function runCases(snapshot: Snapshot, cases: readonly Case[]): CaseResult[] {
  return cases.map(({ name, startMs, identity, calls }) => {
    const policy = openPolicy(snapshot, identity)
    const counters = new MemoryCounters()
    const failures: string[] = []
    let nowMs = startMs
    calls.forEach((call, i) => {
      const differing: Differing[] = []
      for (let time = 1; time <= call.times; time += 1) {
        nowMs += call.afterMs
        const args_hash = call.args === 'uninspectable' ? '' : canonicalHash(canonicalJson(call.args))
        const plan =
          call.method === CALL_METHOD
            ? policy.planFor(call.server, call.tool, call.annotations)
            : policy.planForMethod(call.server, call.method)
        const texts = call.args === 'uninspectable' || plan.pathsOf === null ? [] : plan.pathsOf(call.args)
        const { approved } = call
        const approvals = new Map(approved === null ? [] : plan.asks.map(({ ruleId }) => [ruleId, approved]))
        const facts = { args: call.args, args_hash, wallMs: nowMs, locations: writtenLocations(texts), approvals }
        const verdict = decide(plan, facts, counters, nowMs)
        counters.apply(verdict.writes, nowMs)
        if (verdict.end !== null)
          counters.apply(settle(verdict.end, call.result === 'error' ? 'failed' : 'done', counters, nowMs), nowMs)
        const difference = differenceOf(call.expect, verdict)
        const last = differing.at(-1)
        if (last?.difference === difference && last.to === time - 1) last.to = time
        else if (difference !== null) differing.push({ difference, from: time, to: time })
      }
      for (const one of differing) failures.push(`call ${i + 1}${whichTimes(one, call.times)}: ${one.difference}`)
    })
    return { name, passed: failures.length === 0, failures }
  })
}

/** Times in a row at which a call got the same wrong thing. */
interface Differing {
  readonly difference: string
  readonly from: number
  to: number
}

function whichTimes({ from, to }: Differing, times: number): string {
  if (times === 1) return ''
  return from === to ? `, time ${from} of ${times}` : `, ${to - from + 1} of ${times} times (${from} to ${to})`
}

function differenceOf(expected: Expected, { decision, tags }: Verdict): string | null {
  const got: Readonly<Record<keyof Expected, unknown>> = {
    action: decision.action,
    rule_id: decision.rule_id,
    reason_code: decision.reason_code,
    hint_kind: decision.hint?.hint_kind ?? null,
    suggested_args: decision.hint?.suggested_args ?? null,
    tags: tags.toSorted(),
  }
  const wanted = { ...expected, ...(expected.tags === undefined ? {} : { tags: expected.tags.toSorted() }) }
  const differing = (Object.keys(wanted) as (keyof Expected)[]).filter(
    (key) => canonicalJson(wanted[key]) !== canonicalJson(got[key]),
  )
  if (differing.length === 0) return null
  const text = differing.map((key) => `${key} is ${JSON.stringify(got[key])}, not ${JSON.stringify(wanted[key])}`)
  return `${text.join('; ')} (${decision.summary})`
}
