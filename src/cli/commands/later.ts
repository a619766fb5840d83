// heimdall later: a wait is put off, and comes back by itself.
import { HeimdallError } from '../../errors.ts'
import { requirePerson } from '../../person.ts'
import { putOff } from '../../spine/fleet/later.ts'
import { lookAtFleet } from '../../spine/fleet/look.ts'
import type { Run } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import type { later } from '../table/spine.ts'

export const run: Run<typeof later> = async (context, { args, flags }) => {
  const { waits } = await lookAtFleet(await fleetOptions(context, flags))
  const named = waits.filter(({ id, agent_id: agent }) => id === args.wait || agent === args.wait)
  const [wait] = named
  if (wait === undefined)
    throw new HeimdallError('WAIT_NOT_FOUND', `nothing waits under the name ${args.wait}`, {
      hint: 'heimdall status --json shows what waits, and the ids',
    })
  // An agent could empty a person's list with it, and then nobody would be asked.
  if (flags.back !== true) requirePerson('heimdall later')
  const nowMs = context.clock.wallMs()
  const untilMs = flags.back === true ? nowMs : nowMs + flags.for
  for (const { id } of named) putOff(context.env, id, untilMs, nowMs)
  const until = flags.back === true ? null : new Date(untilMs).toISOString()
  return {
    data: { waits: named.map(({ id }) => id), later_until: until },
    text: until === null ? `Back among those that wait: ${wait.asks}` : `Put off until ${until}: ${wait.asks}`,
  }
}
