// heimdall policy lint, compile, explain and test: one bundle, what it means, and whether its cases pass.
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { canonicalHash } from '../../canonical/canonical.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { HOSTS } from '../../hosts/host-table.ts'
import { hostOf, hostsWithTool } from '../../hosts/own-tools.ts'
import { printable } from '../../ids.ts'
import { EXPLAINED_NTH_MAX } from '../../limits.ts'
import { type CaseFile, readCases, runCases } from '../../policy/bundle/cases.ts'
import { compileBundle } from '../../policy/bundle/compile.ts'
import { Fields } from '../../policy/bundle/fields.ts'
import { type Finding, lintSnapshot } from '../../policy/bundle/lint.ts'
import { type Problem, Problems, problemText } from '../../policy/bundle/problems.ts'
import { CALL_METHOD, openPolicy } from '../../policy/decide/plan.ts'
import { type ExplainedCall, explainCall, type Explanation } from '../../policy/decide/why-decided.ts'
import { readAnnotations } from '../../policy/match/annotations.ts'
import type { Annotations, Snapshot, Subject } from '../../policy/types.ts'
import { shellWord } from '../../spine/fleet/plain-words.ts'
import type { Context, Run } from '../command.ts'
import { loadSnapshot, readPolicyFile } from '../policy-file.ts'
import { renderTable } from '../render/style.ts'
import { type compileSpec, type explainSpec, type lintSpec, POLICY_FILE, type testSpec } from './policy.ts'
import { usageError } from '../usage-error.ts'

export const lint: Run<typeof lintSpec> = async (context, { args, flags }) => {
  if (args.file === undefined && context.isSeedName)
    throw usageError('FILE is missing', `${context.calledAs} --help shows what it takes`)
  const file = args.file ?? POLICY_FILE
  const text = await readPolicyFile(context, file)
  try {
    const snapshot = await compileBundle(text, { name: file })
    const findings = lintSnapshot(snapshot)
    const isClean = !findings.some(({ level }) => level === 'dead' || level === 'warn')
    return {
      data: { valid: true, policy_hash: snapshot.policy_hash, problems: [], findings },
      text: [
        ...findings.map((finding) => findingText(file, finding)),
        `${file}: valid, ${snapshot.rules.length} rules, hash ${snapshot.policy_hash}`,
      ].join('\n'),
      ...(flags.strict === true && !isClean ? { exit: EXIT.failure } : {}),
    }
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'POLICY_INVALID') throw error
    const problems = (error.details?.['problems'] ?? []) as readonly Problem[]
    return {
      data: { valid: false, policy_hash: null, problems, findings: [] },
      text: problems.map((problem) => problemText(file, problem)).join('\n'),
      exit: EXIT.failure,
    }
  }
}

function findingText(file: string, { level, rule_id, message }: Finding): string {
  return `${file}: ${level}: ${rule_id === null ? '' : `${rule_id} `}${message}`
}

export const compile: Run<typeof compileSpec> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  return { data: snapshot, text: flags.hash === true ? snapshot.policy_hash : JSON.stringify(snapshot, null, 2) }
}

export const explain: Run<typeof explainSpec> = async (context, { args, flags }) => {
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
  if (server === undefined) throw usageError('--server is required')
  if (tool === undefined) throw usageError('--tool or --method is required')
  if (method !== undefined && method !== CALL_METHOD && flags.tool !== undefined)
    throw usageError(`${printable(method)} is not a tool call; leave --tool out`)
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
  // An MCP server may have a tool of the same name; a capital letter is the style of hosts.
  const alsoHost = hostTool !== undefined && /^[A-Z]/.test(tool) ? hostTool : undefined
  const decided = explanationText(snapshot, explanation, context.style)
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

/** A call that does not go through a shim: rules do not decide it. */
function hostToolOf(tool: string, server: string | undefined): HostTool | undefined {
  const hosts = hostsWithTool(tool, server)
  if (hosts.length === 0) return undefined
  const titles = hosts.map((host) => HOSTS[host].title).join(' and ')
  const why =
    `${tool} is a tool of ${titles} itself. Policy decides MCP calls that go through the shim, and a host’s own tools ` +
    'do not; claims limit what they write where heimdall init has installed hooks'
  return { tool, hosts, governed: false, why }
}

function shellLines({ programs, parsed }: NonNullable<Explanation['shell']>): string[] {
  const lines = programs.map(({ command, writes, network, known, opaque }) => {
    const facts = [
      ...writes.map((path) => `writes ${printable(path)}`),
      ...(network ? ['network'] : []),
      ...(opaque ? ['opaque'] : known ? [] : ['unknown']),
    ]
    return `runs ${printable(command)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`
  })
  return parsed ? lines : [...lines, 'unparsed: more may run than is listed']
}

function explanationText(
  snapshot: Snapshot,
  { decision, tags, rules, shell }: Explanation,
  style: Parameters<typeof renderTable>[0],
): string {
  const { action, rule_id, reason_code, summary, enforced, hint, backoff_ms } = decision
  const lines = [
    `${action}${enforced ? '' : ' (not enforced: mode observe)'} by ${rule_id ?? 'the default'}: ${reason_code}, ${summary}`,
    ...(backoff_ms === undefined ? [] : [`back off ${backoff_ms} ms`]),
    ...(hint === undefined ? [] : [`hint: ${hint.hint_text}`]),
    ...(hint?.suggested_args == null ? [] : [`suggested arguments: ${JSON.stringify(hint.suggested_args)}`]),
    `policy ${snapshot.policy_id} ${snapshot.version}, mode ${snapshot.mode}${tags.length === 0 ? '' : `, classes ${tags.join(', ')}`}`,
    ...(shell === undefined ? [] : shellLines(shell)),
  ]
  const rows = rules.map(({ rule_id, kind, took_part, note }) => [took_part ? '*' : '-', rule_id, kind, note])
  return [...lines, ...(rows.length === 0 ? [] : [renderTable(style, ['HIT', 'RULE', 'KIND', 'WHY'], rows)])].join('\n')
}

/** Oversized and ambiguous arguments cannot be given as JSON, so they have names. */
function readArgs(text: string): Pick<ExplainedCall, 'args' | 'args_hash'> {
  if (text === 'uninspectable' || text === 'ambiguous') return { args: text, args_hash: '' }
  return { args: readObject('--args', text), args_hash: canonicalHash(text) }
}

function readNth(nth: number): number {
  if (nth < 1 || nth > EXPLAINED_NTH_MAX) throw usageError(`--nth takes 1 to ${EXPLAINED_NTH_MAX}, got ${nth}`)
  return nth
}

function readSaid(text: string): Annotations {
  const problems = new Problems()
  const said = readAnnotations(new Fields(readObject('--annotations', text), [], problems))
  const [first] = problems.located(() => undefined)
  if (first !== undefined)
    throw usageError(`--annotations ${first.path === '' ? '' : `${first.path} `}${first.message}`)
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
        throw usageError(`--approved takes allow, deny or RULE=allow, got ${printable(text)}`)
      if (at !== -1 && !rules.some(({ rule_id }) => rule_id === ruleId))
        throw usageError(`no rule has the id ${printable(ruleId)}`)
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
    throw usageError(`${flag} takes a JSON object, got ${printable(text)}`)
  return value as Record<string, never>
}

function readTime(text: string): number {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw usageError(`--at takes a time in RFC 3339, got ${printable(text)}`)
  return ms
}

export const runTests: Run<typeof testSpec> = async (context, { args, flags }) => {
  const { policy, cases } = await casesIn(context, args.file)
  const bundle = flags.policy ?? (policy === null ? undefined : join(dirname(args.file), policy))
  if (bundle === undefined) throw usageError(`${args.file} names no policy`, 'add a line policy: FILE, or use --policy')
  const snapshot = await loadSnapshot(context, bundle)
  const results = runCases(snapshot, cases)
  const failed = results.filter(({ passed }) => !passed)
  const lines = results.flatMap(({ name, passed, failures }) => [
    `${passed ? context.style.color.green('ok') : context.style.color.red('FAILED')} ${name}`,
    ...failures.map((failure) => `    ${failure}`),
  ])
  return {
    data: {
      policy: bundle,
      policy_hash: snapshot.policy_hash,
      passed: results.length - failed.length,
      failed: failed.length,
      results,
    },
    text: [...lines, `${results.length - failed.length} of ${results.length} cases passed`].join('\n'),
    ...(failed.length === 0 ? {} : { exit: EXIT.failure }),
  }
}

async function casesIn(context: Context, file: string): Promise<CaseFile> {
  const text = await readPolicyFile(context, file)
  try {
    return await readCases(text, file)
  } catch (error) {
    if (!isInvalid(error) || !(await isPolicy(text, file))) throw error
    const beside = `${file.replace(/\.(ya?ml|json)$/, '')}.cases.yaml`
    throw new HeimdallError('POLICY_INVALID', `${file} is a policy, not a file of cases`, {
      hint: existsSync(context.resolve(beside))
        ? `heimdall policy test ${shellWord(beside)}`
        : `write cases to ${beside}, with a line policy: ${basename(file)}; docs/policy.md has the format`,
      cause: error,
    })
  }
}

async function isPolicy(text: string, file: string): Promise<boolean> {
  try {
    await compileBundle(text, { name: file })
    return true
  } catch (error) {
    if (!isInvalid(error)) throw error
    return false
  }
}

const isInvalid = (error: unknown): boolean => error instanceof HeimdallError && error.code === 'POLICY_INVALID'
