// heimdall brief build: all that a spawned agent needs for a task, by reference, resolved.
import { buildBrief } from '../../../briefing/brief.ts'
import type { Run } from '../../command.ts'
import type { briefBuild } from '../../table/briefing.ts'
import { listOf, logCost, newMessageId, planningOf } from '../../planning-of.ts'

export const run: Run<typeof briefBuild> = async (context, { flags }) => {
  const planning = planningOf(context)
  const { text, prefix, omitted, warnings } = buildBrief(planning, {
    task: flags.task,
    spec: flags.spec,
    symbols: listOf(flags.symbols),
    capsules: listOf(flags.capsules),
    facts: listOf(flags.facts),
    invariants: flags.invariants,
    budget: flags.budget,
  })
  for (const warning of warnings) context.note(`warning: ${warning}`)
  if (omitted.length > 0)
    context.note(`note: ${omitted.length} references did not fit into ${flags.budget} tokens; the brief lists them`)
  const msgId = flags['msg-id'] ?? newMessageId(context, 'b')
  await logCost(context, planning, { role: flags.role, kind: 'delta_brief', msgId }, `${text}\n`, prefix)
  return { data: { task: flags.task, msg_id: msgId, text, omitted, warnings }, text }
}
