// heimdall next: from whoever has waited longest to the next, until nobody waits.
import type { Fleet, Wait } from '../../spine/fleet/fleet.ts'
import { lookAtFleet } from '../../spine/fleet/look.ts'
import type { Answer, Context, Run } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import { askAnswer } from '../wait-answers.ts'
import { attachUntilAnswered } from './session/visit-session.ts'
import { shortSpan } from '../render/fleet-text.ts'
import type { next } from '../table/spine.ts'
import { sessionAround } from './session/locate.ts'

export const run: Run<typeof next> = async (context, { flags }) => {
  const options = await fleetOptions(context, flags)
  const isPerson = context.stdin.isTTY && context.stdout.isTTY && !context.json
  if (!isPerson) return oldest(await lookAtFleet(options))
  const around = await sessionAround(context, options.socketDir)
  const visited: string[] = []
  for (;;) {
    const fleet = await lookAtFleet(options)
    const open = fleet.waits.filter(({ later_until: later }) => later === null)
    const wait = open.find(({ id, session_id: session }) => !visited.includes(id) && session !== around)
    if (wait === undefined) return { data: { wait: null, waiting: open.length, visited }, text: lastWords(open.length) }
    visited.push(wait.id)
    const isLeft = await visit(context, fleet, wait)
    if (isLeft) return { data: { wait: null, waiting: open.length, visited }, text: '' }
  }
}

const lastWords = (open: number): string =>
  open === 0 ? 'Nobody waits for you.' : `You have seen them all; ${open} still ${open === 1 ? 'waits' : 'wait'}.`

function oldest({ waits, counts }: Fleet): Answer {
  const wait = waits.find(({ later_until: later }) => later === null)
  const words =
    wait === undefined
      ? 'Nobody waits for you.'
      : [wait.agent_id ?? '-', wait.kind, wait.asks, wait.answers[0]?.command ?? ''].join('\t')
  return { data: { wait: wait ?? null, waiting: counts.waiting, visited: [] }, text: words }
}

/** True when the person wants no more. */
async function visit(context: Context, fleet: Fleet, wait: Wait): Promise<boolean> {
  const age = shortSpan(Date.parse(fleet.at) - Date.parse(wait.since))
  context.note(`${wait.agent_id ?? fleet.project.name}, for ${age}: ${wait.kind}: ${wait.asks}`)
  const dir = fleet.agents.find(({ session_id: id }) => id === wait.session_id)?.socket_dir ?? null
  if (wait.answers[0]?.act !== 'attach' || wait.session_id === null || dir === null)
    return (await askAnswer(context, wait)) === 'quit'
  return await attachUntilAnswered(context, { dir, id: wait.session_id })
}
