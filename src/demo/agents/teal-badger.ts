// Wants what another holds: is refused, queues, gets it, and accepts what was handed over.
import { mustSucceed } from '../command-reply.ts'
import type { DemoAgent } from './agent.ts'
import { finish, readBrief } from './work.ts'

const FILE = 'src/book/exchange.ts'

interface Note {
  readonly message_id: string
  readonly category: string
  readonly subject: string
}

export async function tealBadger(agent: DemoAgent): Promise<number> {
  await readBrief(agent, '3.2')
  const scopes = ['src/read/rows.ts', FILE, '--task', '3.2']
  const { data, exit } = await agent.heimdall(['claim', ...scopes, '--intent', 'read rates'])
  const [conflict] = (data['conflicts'] ?? []) as readonly { readonly agent_id?: string }[]
  agent.say(`\n● refused (exit ${exit}): ${conflict?.agent_id ?? 'somebody'} holds src/read/**; waiting in line`)
  const wait = ['claim', 'wait', ...scopes, '--timeout', '90s']
  mustSucceed(wait, await agent.heimdall(wait))
  agent.say('● both paths are mine now\n')
  await agent.think(2)
  const inbox = ['note', 'list', '--state', 'unread']
  const notes = mustSucceed(inbox, await agent.heimdall(inbox)) as unknown as readonly Note[]
  // What everybody was told is read; what was handed over is accepted as well.
  for (const { message_id: message, category } of notes)
    for (const act of category === 'HANDOFF' ? ['read', 'ack'] : ['read']) await agent.heimdall(['note', act, message])
  for (const { subject } of notes.filter(({ category }) => category === 'HANDOFF'))
    agent.say(`● accepted the handoff: ${subject}\n`)
  await agent.think(2)
  const workshop = agent.server('workshop')
  const text = 'export const exchange = (minor: bigint, rate: bigint): bigint => (minor * rate) / 1_000_000n\n'
  const written = await workshop.call('write_file', { path: FILE, text })
  agent.say(`● ${written.ok ? written.text : written.message}`)
  await workshop.end()
  await finish(agent, '3.2', FILE)
  await agent.think(2)
  return 0
}
