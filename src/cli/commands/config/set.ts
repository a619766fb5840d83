// heimdall config set: a setting that belongs to the repository, changed by a person.
import { setStaleMinutes } from '../../../coordination/who/patience.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { configSet } from '../../table/core.ts'
import { personIn, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof configSet> = (context, { args }) => {
  if (args.key !== 'agent_stale_minutes')
    throw new HeimdallError('USAGE', `${printable(args.key)} does not belong to the repository`, {
      hint: 'agent_stale_minutes does; everything else is set in heimdall.toml',
    })
  if (!/^\d{1,6}$/.test(args.value))
    throw new HeimdallError('INVALID_ARGS', `${printable(args.value)} is not a number of minutes`)
  return withRoom(context, async (room) => {
    const { name } = await personIn(context, room, 'changing how long agents may be silent', null)
    const value = Number(args.value)
    await setStaleMinutes(room, { kind: 'human', name }, value)
    return { data: { key: args.key, value, origin: 'repository' }, text: `${args.key} is ${value} in this repository` }
  })
}
