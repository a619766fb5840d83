// heimdall capsule write: what a finished piece of work leaves for those who build on it, in ten lines at most.
import { listCapsules, writeCapsule } from '../../../briefing/capsules.ts'
import type { Run } from '../../command.ts'
import type { capsuleWrite } from '../../table/briefing.ts'
import { listOf, planningOf } from '../../planning-of.ts'

export const run: Run<typeof capsuleWrite> = async (context, { flags, args }) => {
  const planning = planningOf(context)
  const depends = listOf(flags.depends)
  const { path, lines } = writeCapsule(planning, args.id, { ...flags, depends })
  const known = depends.length === 0 ? [] : listCapsules(planning)
  const missing = depends.filter((id) => !known.includes(id))
  if (missing.length > 0) context.note(`note: ${args.id} depends on what is not written yet: ${missing.join(', ')}`)
  return { data: { id: args.id, path, lines, depends, missing }, text: `wrote ${path} (${lines} lines)` }
}
