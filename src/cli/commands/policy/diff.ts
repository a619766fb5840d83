// heimdall policy diff: what changes in effect between two bundles, the gravest first.
import { EXIT } from '../../../errors.ts'
import { escapeControls } from '../../../ids.ts'
import { effectsOf, type Effect } from '../../../policy/diff/effects.ts'
import { type NamedTool, probeBundles, Probes } from '../../../policy/diff/probes.ts'
import { ruleChanges } from '../../../policy/diff/rules.ts'
import { settingChanges } from '../../../policy/diff/settings.ts'
import { SEVERITIES, type Severity } from '../../../policy/types.ts'
import { RecordedCalls } from '../../../runs/recorded-calls.ts'
import type { Context, InputOf, Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import type { policyDiff } from '../../table/policy.ts'
import { loadSnapshot } from './file.ts'
import { recordedEvents } from './recorded-events.ts'
import { annotationsIn, readTools, type ToolsByServer } from './tools-file.ts'

export const run: Run<typeof policyDiff> = async (context, { args, flags }) => {
  const before = await loadSnapshot(context, args.before)
  const after = await loadSnapshot(context, args.after)
  const tools = await readTools(context, flags.tools)
  const probes = new Probes()
  const unseen = await probeRecord(context, flags, probes, tools)
  probeBundles(probes, [before, after], listedIn(tools))
  const changes = gravestFirst([...settingChanges(before, after), ...ruleChanges(before, after)])
  const effects = gravestFirst(effectsOf(before, after, probes.list, context.clock.wallMs()))
  const severity =
    SEVERITIES.findLast((one) => [...changes, ...effects].some((found) => found.severity === one)) ?? null
  const tried = { tried: probes.list.length, left_off: probes.leftOff, unseen }
  const data = { same: before.policy_hash === after.policy_hash, severity, changes, effects, probes: tried }
  const limit = flags['fail-on']
  const isGrave = limit !== undefined && severity !== null && rank(severity) >= rank(limit)
  return { data, text: textOf(context, data), ...(isGrave ? { exit: EXIT.failure } : {}) }
}

type Data = {
  readonly same: boolean
  readonly changes: ReturnType<typeof ruleChanges>
  readonly effects: readonly Effect[]
  readonly probes: { readonly tried: number; readonly left_off: number; readonly unseen: number }
}

function rank(severity: Severity): number {
  return SEVERITIES.indexOf(severity)
}

function gravestFirst<T extends { readonly severity: Severity }>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => rank(b.severity) - rank(a.severity))
}

function listedIn(tools: ToolsByServer): NamedTool[] {
  return [...tools].flatMap(([server, listed]) =>
    listed.map(({ name, annotations }) => ({ server, tool: name, annotations })),
  )
}

/** Returns how many recorded calls could not be tried, because their arguments are not known. */
async function probeRecord(
  context: Context,
  flags: InputOf<typeof policyDiff>['flags'],
  probes: Probes,
  tools: ToolsByServer,
): Promise<number> {
  if (flags.run === undefined && flags.events === undefined) return 0
  const annotationsOf = annotationsIn(tools)
  const calls = new RecordedCalls()
  let unseen = 0
  for await (const event of recordedEvents(context, flags, { unreadable: 0, newer: 0 })) {
    const read = calls.read(event)
    if (read === null || read === 'malformed' || read.what !== 'call' || read.method !== null) continue
    const { server, tool, args } = read
    if (typeof args === 'string') unseen += 1
    else probes.add({ server, tool, annotations: annotationsOf(server, tool), args, source: 'run' })
  }
  return unseen
}

function textOf({ style }: Context, { same, changes, effects, probes }: Data): string {
  if (same) return 'the two mean the same'
  const { color } = style
  const shown = { info: color.dim, warn: color.yellow, critical: color.red }
  const rules = changes.map(({ severity, change, what, rule_id, reason }) =>
    escapeControls(`${severity.padEnd(8)} ${change} ${rule_id ?? what}: ${reason}`),
  )
  const rows = effects.map(({ severity, server_name, tool_name, args, before, after, reason }) => [
    severity,
    server_name,
    tool_name,
    Object.keys(args).length === 0 ? '-' : JSON.stringify(args).slice(0, ARGS_SHOWN),
    `${before.action} ${before.rule_id ?? before.reason_code}`,
    `${after.action} ${after.rule_id ?? after.reason_code}`,
    reason,
  ])
  return [
    ...rules.map((line, i) => shown[changes[i]?.severity ?? 'info'](line)),
    ...(rows.length === 0 ? [] : ['', renderTable(style, HEADER, rows), '']),
    `${changes.length} changes, ${effects.length} of ${probes.tried} calls tried are decided otherwise`,
    ...(probes.left_off === 0 ? [] : [`${probes.left_off} more calls were not tried`]),
    ...(probes.unseen === 0
      ? []
      : [`${probes.unseen} recorded calls were not tried: the record does not show their arguments`]),
  ].join('\n')
}

const ARGS_SHOWN = 60
const HEADER = ['SEVERITY', 'SERVER', 'TOOL', 'ARGUMENTS', 'BEFORE', 'AFTER', 'WHY']
