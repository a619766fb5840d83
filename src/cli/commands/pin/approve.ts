// heimdall pin approve: a person says that a tool may be what it was shown as.
import { HeimdallError } from '../../../errors.ts'
import { requirePerson } from '../../../person.ts'
import { approved } from '../../../pins/approve.ts'
import { seeable } from '../../../pins/difference.ts'
import { changePins, type ServerPins } from '../../../pins/pins-file.ts'
import type { Run } from '../../command.ts'
import type { pinApprove } from '../../table/pin.ts'
import { knownPins, notFound, placeOf } from './which-pins.ts'

/** Less than this could be found again by trying. */
const HASH = /^(bytes-)?[0-9a-f]{16,64}$/

export const run: Run<typeof pinApprove> = async (context, { args, flags }) => {
  if (!HASH.test(flags.hash))
    throw new HeimdallError('USAGE', '--hash takes what heimdall pin show has printed, at least 16 digits of it')
  const person = requirePerson('heimdall pin approve')
  const place = placeOf(context, args.server, flags.project)
  knownPins(place, context.env)
  const at = new Date(context.clock.wallMs()).toISOString()
  const approval = { toolName: args.tool ?? null, hash: flags.hash, isBeside: flags.also === true, by: person.name, at }
  let names: readonly string[] = []
  changePins(place, (pins) => {
    const result: { readonly pins: ServerPins; readonly names: readonly string[] } = approved(
      pins ?? notFound(place, context.env),
      approval,
    )
    names = result.names
    return result.pins
  })
  return {
    data: {
      project: place.project,
      server_name: place.serverName,
      approved: names,
      approved_by: person.name,
      approved_at: at,
    },
    text: names.map((name) => `Approved ${seeable(name)} of ${seeable(args.server)} as it was shown`).join('\n'),
  }
}
