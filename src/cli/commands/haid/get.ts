// heimdall haid get, heimdall-haid get: one entry of the registry.
import { unknownAgent } from '../../../coordination/change.ts'
import { parseHaid } from '../../../coordination/who/haid.ts'
import type { Run } from '../../command.ts'
import type { haidGet } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { one } from './haid-answer.ts'

export const run: Run<typeof haidGet> = (context, { args }) => {
  parseHaid(args.haid)
  return withRoomToRead(
    context,
    (room) => one(room, args.haid),
    () => {
      throw unknownAgent(args.haid)
    },
  )
}
