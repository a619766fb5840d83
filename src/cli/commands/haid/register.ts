// heimdall haid register, heimdall-haid register: register a HAID, or update it.
import { keysOf } from '../../../coordination/who/key-files.ts'
import { heartbeat as beat, registerHaid, updateAgent } from '../../../coordination/who/registration.ts'
import type { Run } from '../../command.ts'
import type { haidRegister } from '../../table/coordination.ts'
import { callerOf, ledgerActor, sessionTree, withRoom } from '../../coordination-door.ts'
import { one } from './haid-answer.ts'

export const run: Run<typeof haidRegister> = (context, { flags }) =>
  withRoom(context, async (room) => {
    const found = callerOf(context, room)
    const haid = flags.haid ?? found.haid
    const isSession = flags.haid === undefined && found.proof === 'process'
    const made = isSession
      ? undefined
      : await registerHaid(room, haid, { role: flags.role, tree: sessionTree(context) }, keysOf(room))
    if (made === undefined) {
      const actor = await ledgerActor(context, room, flags.haid)
      if (flags.role === undefined) await beat(room, actor)
      else await updateAgent(room, actor, { role: flags.role })
    }
    return one(room, haid, haid)
  })
