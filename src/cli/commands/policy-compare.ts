// heimdall policy diff and replay: two bundles against each other, and one against recorded calls.
import { EXIT } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { runsDirOf } from '../../paths.ts'
import { type Effect, effectsOf } from '../../policy/diff/effects.ts'
import { type NamedTool, probeBundles, Probes } from '../../policy/diff/probes.ts'
import { ruleChanges } from '../../policy/diff/rules.ts'
import { settingChanges } from '../../policy/diff/settings.ts'
import type { RecordedDecision } from '../../policy/replay/recorded.ts'
import type { ReplayRow, ReplayTally } from '../../policy/replay/tally.ts'
import { SEVERITIES, type Severity } from '../../policy/types.ts'
import { recordedEvents, type SetAside } from '../../runs/event-source.ts'
import { RecordedCalls } from '../../runs/recorded-calls.ts'
import { annotationsIn, readTools, type ToolsByServer } from '../../shim/tools-file.ts'
import { replayEvents, replayNotes } from '../../spine/replay-run.ts'
import type { Context, InputOf, Run } from '../command.ts'
import { loadSnapshot } from '../policy-file.ts'
import { renderTable } from '../render/style.ts'
import type { diffSpec, replaySpec } from './policy.ts'

export const diff: Run<typeof diffSpec> = async (context, { args, flags }) => {
  const before = await loadSnapshot(context, args.before)
  const after = await loadSnapshot(context, args.after)
  const tools = await readTools(flags.tools, (file) => context.resolve(file))
  const probes = new Probes()
  const unseen = await probeRecord(context, flags, probes, tools)
  probeBundles(probes, [before, after], listedIn(tools))
  const changes = mostSevereFirst([...settingChanges(before, after), ...ruleChanges(before, after)])
  const effects = mostSevereFirst(effectsOf(before, after, probes.list, context.clock.wallMs()))
  const severity =
    SEVERITIES.findLast((one) => [...changes, ...effects].some((found) => found.severity === one)) ?? null
  const tried = { tried: probes.list.length, left_off: probes.leftOff, unseen }
  const data = { same: before.policy_hash === after.policy_hash, severity, changes, effects, probes: tried }
  const limit = flags['fail-on']
  const isSevere = limit !== undefined && severity !== null && rank(severity) >= rank(limit)
  return { data, text: diffText(context, data), ...(isSevere ? { exit: EXIT.failure } : {}) }
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

function mostSevereFirst<T extends { readonly severity: Severity }>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => rank(b.severity) - rank(a.severity))
}

function listedIn(tools: ToolsByServer): NamedTool[] {
  return [...tools].flatMap(([server, listed]) =>
    listed.map(({ name, annotations }) => ({ server, tool: name, annotations })),
  )
}

/** Returns how many recorded calls could not be tried because their arguments are unknown. */
async function probeRecord(
  context: Context,
  flags: InputOf<typeof diffSpec>['flags'],
  probes: Probes,
  tools: ToolsByServer,
): Promise<number> {
  if (flags.run === undefined && flags.events === undefined) return 0
  const annotationsOf = annotationsIn(tools)
  const calls = new RecordedCalls()
  let unseen = 0
  for await (const event of recordedEvents(sourceOf(context, flags), { unreadable: 0, newer: 0 })) {
    const read = calls.read(event)
    if (read === null || read === 'malformed' || read.what !== 'call' || read.method !== null) continue
    const { server, tool, args } = read
    if (typeof args === 'string') unseen += 1
    else probes.add({ server, tool, annotations: annotationsOf(server, tool), args, source: 'run' })
  }
  return unseen
}

function diffText({ style }: Context, { same, changes, effects, probes }: Data): string {
  if (same) return 'no difference in effect'
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
    ...(rows.length === 0 ? [] : ['', renderTable(style, DIFF_HEADER, rows), '']),
    `${changes.length} changes, ${effects.length} of ${probes.tried} tried calls are decided differently`,
    ...(probes.left_off === 0 ? [] : [`${probes.left_off} more calls were not tried`]),
    ...(probes.unseen === 0
      ? []
      : [`${probes.unseen} recorded calls were not tried: the record does not show their arguments`]),
  ].join('\n')
}

const ARGS_SHOWN = 60
const DIFF_HEADER = ['SEVERITY', 'SERVER', 'TOOL', 'ARGUMENTS', 'BEFORE', 'AFTER', 'WHY']

export const replay: Run<typeof replaySpec> = async (context, { args, flags }) => {
  const snapshot = await loadSnapshot(context, args.file)
  const known = {
    annotationsOf: annotationsIn(await readTools(flags.tools, (file) => context.resolve(file))),
    arePathsWritten: flags['paths-as-written'] === true,
  }
  const aside: SetAside = { unreadable: 0, newer: 0 }
  const events = recordedEvents(sourceOf(context, flags), aside)
  const shown = flags.all === true ? 'all' : 'different'
  const { tally, runs, undecided } = await replayEvents(events, snapshot, known, shown, aside)
  const { policy_id, version, policy_hash, mode } = snapshot
  const notes = replayNotes(snapshot, tally, known.arePathsWritten)
  const data = {
    policy: { policy_id, policy_version: version, policy_hash, mode },
    runs,
    ...tally.data(),
    set_aside: { ...aside, undecided },
    notes,
  }
  return {
    data,
    text: replayText(context, data.policy, tally, data.set_aside, notes),
    ...(flags['exit-code'] === true && tally.differing > 0 ? { exit: EXIT.failure } : {}),
  }
}

function replayText(
  { style }: Context,
  policy: { readonly policy_id: string; readonly policy_version: string },
  tally: ReplayTally,
  aside: SetAside & { readonly undecided: number },
  notes: readonly string[],
): string {
  const { calls, undecidable, recorded, rows, rows_left_off: left } = tally.data()
  const doubts = Object.entries(undecidable).flatMap(([why, count]) => (count === 0 ? [] : [`${why} ${count}`]))
  const lines = [
    ...(rows.length === 0
      ? []
      : [
          renderTable(
            style,
            REPLAY_HEADER,
            rows.map((row) => cellsOf(row).map(escapeControls)),
          ),
        ]),
    ...(left === 0 ? [] : [`${left} more rows are not shown`]),
    calls.total === 0
      ? 'no call with a decision'
      : `${calls.total} calls under ${policy.policy_id} ${policy.policy_version}: ${calls.same} the same, ${calls.stricter} refused now, ${calls.looser} allowed now, ${calls.other} by another rule or reason, ${calls.undecidable} undecidable${doubts.length === 0 ? '' : ` (${doubts.join(', ')})`}`,
    ...recorded.map(({ policy_id, policy_version, policy_hash, calls: count, different }) =>
      escapeControls(
        `${count} were decided by ${policy_id} ${policy_version} (${policy_hash.slice(0, 12)}), ${different} of them differently`,
      ),
    ),
    ...(aside.unreadable + aside.newer + aside.undecided === 0
      ? []
      : [
          `set aside: ${aside.unreadable} unreadable lines, ${aside.newer} of a newer version, ${aside.undecided} calls without a decision`,
        ]),
    ...notes.map((note) => `note: ${note}`),
  ]
  return lines.join('\n')
}

const REPLAY_HEADER = ['CALL', 'SERVER', 'TOOL', 'OUTCOME', 'THEN', 'NOW']

function cellsOf({ seq, server_name, tool_name, outcome, recorded, replayed, why }: ReplayRow): string[] {
  const now = replayed === null ? `? ${why.join(', ')}` : said(replayed)
  return [seq === null ? '-' : String(seq), server_name, tool_name, outcome, said(recorded), now]
}

function said({ action, rule_id, reason_code, enforced }: RecordedDecision): string {
  return `${action} ${rule_id ?? reason_code}${enforced ? '' : ' (not enforced)'}`
}

const sourceOf = (
  context: Context,
  { run, events }: { readonly run: string | undefined; readonly events: string | undefined },
) => ({
  runsDir: runsDirOf(context.env),
  run,
  file: events === undefined ? undefined : { path: context.resolve(events), shown: events },
})
