// heimdall why: who holds this path, since when, until when, and why.
import { checkScopes } from '../../coordination/claims/claims.ts'
import type { Conflict } from '../../coordination/claims/conflicts.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { otherMachine } from '../../coordination/membership.ts'
import { NO_TASK } from '../../coordination/protocol.ts'
import { conflictRecord } from '../../coordination/records.ts'
import type { Run } from '../command.ts'
import type { whyPath } from '../table/coordination.ts'
import { withRoomToRead } from '../coordination-door.ts'

export const run: Run<typeof whyPath> = (context, { args }) =>
  withRoomToRead(
    context,
    (room) => {
      const { conflicts } = checkScopes(room, { scopes: [args.path], cwd: context.cwd, asker: null })
      const data = { path: args.path, holders: conflicts.map(conflictRecord) }
      return {
        data,
        text:
          conflicts.length === 0
            ? `nobody holds ${args.path}`
            : conflicts.map((one) => story(one, whereOf(room, one))).join('\n'),
      }
    },
    () => ({ data: { path: args.path, holders: [] }, text: `nobody holds ${args.path}` }),
  )

function whereOf({ store }: Pick<Coordination, 'store'>, { origin, haid }: Conflict): string {
  const machine = store.read((rows) => otherMachine(rows, haid))
  if (machine !== undefined) return `, on ${machine}`
  return origin === 'remote' ? ', on another machine' : ''
}

function story(conflict: Conflict, where: string): string {
  const reason = [conflict.task ?? NO_TASK, conflict.intent].filter((part) => part !== null).join(': ')
  return [
    `${conflict.wanted} is held by ${conflict.agentId} (${conflict.haid}${where})`,
    `  through ${conflict.held} (${conflict.kind}, for instance ${conflict.witness})`,
    `  since ${conflict.since}, until ${conflict.expiresAt} unless it beats again; it is ${conflict.liveness}`,
    `  for ${reason}`,
  ].join('\n')
}
