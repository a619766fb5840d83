// heimdall haid spawn, heimdall-haid spawn: the HAID of an agent with this role below yours.
import { spawnHaid } from '../../../coordination/who/haid.ts'
import type { Run } from '../../command.ts'
import type { haidSpawn } from '../../table/coordination.ts'
import { plain, ownHaid } from './haid-answer.ts'

export const run: Run<typeof haidSpawn> = async (context, { args }) =>
  plain(spawnHaid(await ownHaid(context), args.role))
