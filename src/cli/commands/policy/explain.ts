// heimdall policy explain: what one call would get, and what each rule has to do with it.
import { canonicalHash } from '../../../canonical/canonical.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { type ExplainedCall, explainCall, type Explanation } from '../../../policy/decide/why-decided.ts'
import { EXPLAINED_NTH_MAX } from '../../../limits.ts'
import { readAnnotations } from '../../../policy/match/annotations.ts'
import { Fields } from '../../../policy/bundle/fields.ts'
import { CALL_METHOD, openPolicy } from '../../../policy/decide/plan.ts'
import { Problems } from '../../../policy/bundle/problems.ts'
import type { Annotations, Subject, Snapshot } from '../../../policy/types.ts'
import { HOSTS } from '../../../hosts/host-table.ts'
import { hostOf, hostsWithTool } from '../../../hosts/own-tools.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { policyExplain } from '../../table/policy.ts'
import { loadSnapshot } from './file.ts'

export const run: Run<typeof policyExplain> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  const { policy_id, version, policy_hash, mode } = snapshot
  const about = { policy: { policy_id, policy_version: version, policy_hash }, mode }
  const hostTool = flags.tool === undefined ? undefined : hostToolOf(flags.tool, flags.server)
  if (hostTool !== undefined && (flags.server === undefined || hostOf(flags.server) !== undefined))
    return {
      data: { decision: null, tags: [], rules: [], ...about, host_tool: hostTool },
      text: `not governed: ${hostTool.why}`,
    }
  const identity: Subject = {
    env: flags.env,
    agent_id: flags['agent-id'],
    client: flags.client,
    ...(flags.workload === undefined ? {} : { workload: readObject('--workload', flags.workload) }),
  }
  const wallMs = flags.at === undefined ? context.clock.wallMs() : readTime(flags.at)
  const { server, method, tool = method } = flags
  if (server === undefined) throw new HeimdallError('USAGE', 'say which --server is called')
  if (tool === undefined) throw new HeimdallError('USAGE', 'say which --tool is called, or which --method is asked')
  if (method !== undefined && method !== CALL_METHOD && flags.tool !== undefined)
    throw new HeimdallError('USAGE', `${printable(method)} calls no tool; leave --tool out`)
  const call: ExplainedCall = {
    server,
    tool,
    method: method ?? CALL_METHOD,
    annotations: flags.annotations === undefined ? undefined : readSaid(flags.annotations),
    answers: readAnswers(snapshot, flags.approved),
    before: { times: readNth(flags.nth) - 1, result: flags['after-errors'] === true ? 'failed' : 'done' },
    wallMs,
    ...readArgs(flags.args),
  }
  const explanation = explainCall(openPolicy(snapshot, identity), call, wallMs)
  // An MCP server may have a tool of the same name; only names that hosts alone write so are worth a word.
  const alsoHost = hostTool !== undefined && /^[A-Z]/.test(tool) ? hostTool : undefined
  const decided = textOf(snapshot, explanation, context.style)
  return {
    data: { ...explanation, ...about, host_tool: alsoHost ?? null },
    text:
      alsoHost === undefined
        ? decided
        : `not governed: ${alsoHost.why}\nas a tool of the MCP server ${printable(server)}:\n${decided}`,
    ...(flags['exit-code'] === true && explanation.decision.action !== 'ALLOW' ? { exit: EXIT.denied } : {}),
  }
}

interface HostTool {
  readonly tool: string
  readonly hosts: readonly string[]
  readonly governed: false
  readonly why: string
}

/** A call that no shim sees: whatever the rules say, it is not decided by them. */
function hostToolOf(tool: string, server: string | undefined): HostTool | undefined {
  const hosts = hostsWithTool(tool, server)
  if (hosts.length === 0) return undefined
  const titles = hosts.map((host) => HOSTS[host].title).join(' and ')
  const why =
    `${tool} is a tool of ${titles} itself. Policy decides MCP calls that go through the shim, and a host’s own tools ` +
    'do not; what they write is held to claims where heimdall init has put hooks'
  return { tool, hosts, governed: false, why }
}

function textOf(
  snapshot: Snapshot,
  { decision, tags, rules }: Explanation,
  style: Parameters<typeof renderTable>[0],
): string {
  const { action, rule_id, reason_code, summary, enforced, hint, backoff_ms } = decision
  const lines = [
    `${action}${enforced ? '' : ' (not enforced: mode observe)'} by ${rule_id ?? 'the default'}: ${reason_code}, ${summary}`,
    ...(backoff_ms === undefined ? [] : [`back off ${backoff_ms} ms`]),
    ...(hint === undefined ? [] : [`hint: ${hint.hint_text}`]),
    ...(hint?.suggested_args == null ? [] : [`suggested arguments: ${JSON.stringify(hint.suggested_args)}`]),
    `policy ${snapshot.policy_id} ${snapshot.version}, mode ${snapshot.mode}${tags.length === 0 ? '' : `, classes ${tags.join(', ')}`}`,
  ]
  const rows = rules.map(({ rule_id, kind, took_part, note }) => [took_part ? '*' : '-', rule_id, kind, note])
  return [...lines, ...(rows.length === 0 ? [] : [renderTable(style, ['HIT', 'RULE', 'KIND', 'WHY'], rows)])].join('\n')
}

/** Too large and ambiguous arguments cannot be typed, or not as JSON; there are words for them. */
function readArgs(text: string): Pick<ExplainedCall, 'args' | 'args_hash'> {
  if (text === 'uninspectable' || text === 'ambiguous') return { args: text, args_hash: '' }
  return { args: readObject('--args', text), args_hash: canonicalHash(text) }
}

function readNth(nth: number): number {
  if (nth < 1 || nth > EXPLAINED_NTH_MAX)
    throw new HeimdallError('USAGE', `--nth takes 1 to ${EXPLAINED_NTH_MAX}, got ${nth}`)
  return nth
}

function readSaid(text: string): Annotations {
  const problems = new Problems()
  const said = readAnnotations(new Fields(readObject('--annotations', text), [], problems))
  const [first] = problems.located(() => undefined)
  if (first !== undefined)
    throw new HeimdallError('USAGE', `--annotations ${first.path === '' ? '' : `${first.path} `}${first.message}`)
  return said
}

/** `allow`, `deny`, or `RULE=allow` for one rule among several that ask. */
function readAnswers({ rules }: Snapshot, texts: readonly string[]): ReadonlyMap<string, 'allow' | 'deny'> {
  return new Map(
    texts.map((text) => {
      const at = text.lastIndexOf('=')
      const ruleId = at === -1 ? '*' : text.slice(0, at)
      const answer = text.slice(at + 1)
      if (answer !== 'allow' && answer !== 'deny')
        throw new HeimdallError('USAGE', `--approved takes allow, deny or RULE=allow, got ${printable(text)}`)
      if (at !== -1 && !rules.some(({ rule_id }) => rule_id === ruleId))
        throw new HeimdallError('USAGE', `no rule is called ${printable(ruleId)}`)
      return [ruleId, answer]
    }),
  )
}

function readObject(flag: string, text: string): Record<string, never> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new HeimdallError('USAGE', `${flag} is not JSON: ${printable(text)}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HeimdallError('USAGE', `${flag} takes a JSON object, got ${printable(text)}`)
  return value as Record<string, never>
}

function readTime(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new HeimdallError('USAGE', `--at takes a time in RFC 3339, got ${printable(text)}`)
  return ms
}
