// heimdall haid revoke, heimdall-haid revoke: revoke a HAID: from then on it can change nothing.
import type { Run } from '../../command.ts'
import type { haidRevoke } from '../../table/coordination.ts'
import { setState } from './haid-answer.ts'

export const run: Run<typeof haidRevoke> = (context, { args }) => setState(context, args.haid, true)
