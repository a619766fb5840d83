// heimdall pin forget: a person wants to begin anew with what a server shows next.
import { requirePerson } from '../../../person.ts'
import { toolOf } from '../../../pins/approve.ts'
import { seeable } from '../../../pins/difference.ts'
import { changePins } from '../../../pins/pins-file.ts'
import type { Run } from '../../command.ts'
import type { pinForget } from '../../table/pin.ts'
import { knownPins, notFound, placeOf } from './which-pins.ts'

export const run: Run<typeof pinForget> = async (context, { args, flags }) => {
  requirePerson('heimdall pin forget')
  const place = placeOf(context, args.server, flags.project)
  knownPins(place, context.env)
  let forgotten: readonly string[] = []
  changePins(place, (pins) => {
    const known = pins ?? notFound(place, context.env)
    if (args.tool === undefined) {
      forgotten = [...known.tools.keys()]
      return null
    }
    const { name } = toolOf(known, args.tool)
    forgotten = [name]
    const tools = new Map(known.tools)
    tools.delete(name)
    return { ...known, tools }
  })
  const what = args.tool === undefined ? `${forgotten.length} tools` : seeable(args.tool)
  return {
    data: { project: place.project, server_name: place.serverName, forgotten },
    text: `Forgot ${what} of ${seeable(args.server)}`,
  }
}
