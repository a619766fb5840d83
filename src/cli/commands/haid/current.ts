// heimdall haid current, heimdall-haid current: the HAID of this session.
import type { Run } from '../../command.ts'
import type { haidCurrent } from '../../table/coordination.ts'
import { plain, ownHaid } from './haid-answer.ts'

export const run: Run<typeof haidCurrent> = async (context) => plain(await ownHaid(context))
