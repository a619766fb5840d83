// heimdall haid check, heimdall-haid check: may this HAID act? Exit 3 when it is revoked or unknown.
import { parseHaid } from '../../../coordination/who/haid.ts'
import type { Answer, Run } from '../../command.ts'
import type { haidCheck } from '../../table/coordination.ts'
import { withRoomToRead } from '../../coordination-door.ts'
import { recordOf } from './haid-answer.ts'

export const run: Run<typeof haidCheck> = (context, { args }) => {
  parseHaid(args.haid)
  const absent: Answer = { data: { haid: args.haid, status: 'absent' }, text: 'absent', exit: REVOKED_OR_UNKNOWN }
  return withRoomToRead(
    context,
    (room) => {
      const record = recordOf(room, args.haid)
      if (record === undefined) return absent
      const status = String(record['status'])
      return {
        data: { haid: args.haid, status },
        text: status,
        ...(status === 'revoked' ? { exit: REVOKED_OR_UNKNOWN } : {}),
      }
    },
    () => absent,
  )
}

const REVOKED_OR_UNKNOWN = 3
