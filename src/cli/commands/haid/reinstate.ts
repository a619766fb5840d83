// heimdall haid reinstate, heimdall-haid reinstate: lift a revocation.
import type { Run } from '../../command.ts'
import type { haidReinstate } from '../../table/coordination.ts'
import { setState } from './haid-answer.ts'

export const run: Run<typeof haidReinstate> = (context, { args }) => setState(context, args.haid, false)
