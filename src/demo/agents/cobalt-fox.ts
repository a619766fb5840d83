// Finds a claim whose owner is dead, takes it over, and finishes what was left half done.
import { mustSucceed } from '../command-reply.ts'
import type { DemoAgent } from './agent.ts'
import { finish, readBrief } from './work.ts'

const FILE = 'src/work/close-day.ts'

export async function cobaltFox(agent: DemoAgent): Promise<number> {
  await readBrief(agent, '3.3')
  const scope = ['src/work/**', '--task', '3.3']
  const { data } = await agent.heimdall(['claim', ...scope])
  const [conflict] = (data['conflicts'] ?? []) as readonly { readonly agent_id?: string; readonly liveness?: string }[]
  agent.say(`\n● held by ${conflict?.agent_id ?? '?'}, which is ${conflict?.liveness ?? '?'}: taking over`)
  await agent.think(3)
  const takeover = ['claim', 'takeover', ...scope]
  const taken = mustSucceed(takeover, await agent.heimdall(takeover))
  agent.say(`● uncommitted in it: ${((taken['dirty_paths'] ?? []) as readonly string[]).join(', ')}\n`)
  await agent.think(2)
  const workshop = agent.server('workshop')
  const text = 'export const closeDay = (day: string): string => `closed ${day}`\n'
  const written = await workshop.call('write_file', { path: FILE, text })
  agent.say(`● ${written.ok ? written.text : written.message}`)
  await workshop.end()
  await finish(agent, '3.3', FILE)
  await agent.think(2)
  return 0
}
