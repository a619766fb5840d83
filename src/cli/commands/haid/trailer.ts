// heimdall haid trailer, heimdall-haid trailer: the line that attributes a commit.
import { trailer as trailerOf } from '../../../coordination/who/haid.ts'
import type { Run } from '../../command.ts'
import type { haidTrailer } from '../../table/coordination.ts'
import { plain, ownHaid } from './haid-answer.ts'

export const run: Run<typeof haidTrailer> = async (context, { args }) =>
  plain(trailerOf(args.haid ?? (await ownHaid(context))), 'trailer')
