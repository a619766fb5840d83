// What a task requires of its worker, from flags.
import type { TaskDispatch } from '../../../dispatch/messages.ts'
import type { InputOf } from '../../command.ts'
import { listOf } from '../../planning-of.ts'
import type { dispatchExplain } from '../../table/dispatch.ts'

export function requirementsFrom(
  flags: Pick<InputOf<typeof dispatchExplain>['flags'], 'mcp' | 'needs' | 'tier' | 'read-only'>,
): TaskDispatch['requirements'] {
  return {
    required_mcp: listOf(flags.mcp),
    required_capabilities: listOf(flags.needs),
    min_model_tier: flags.tier ?? null,
    writes: flags['read-only'] !== true,
  }
}
