// Holds what another wants, writes where it may not, follows the hint, hands over.
import { commandLine, mustSucceed } from '../command-reply.ts'
import type { DemoAgent } from './agent.ts'
import { finish, readBrief } from './work.ts'

const FILE = 'src/read/statement.ts'

export async function amberOtter(agent: DemoAgent): Promise<number> {
  await readBrief(agent, '3.1')
  const claim = ['claim', 'src/read/**', '--task', '3.1', '--intent', 'stream statements']
  mustSucceed(claim, await agent.heimdall(claim))
  await agent.think(3)
  const workshop = agent.server('workshop')
  agent.say('\n● write_file db/migrations/0006.sql')
  const text = 'export const statement = (account: string): string => `statement of ${account}`\n'
  const refused = await workshop.call('write_file', { path: 'db/migrations/0006.sql', text })
  if (refused.ok) throw new Error('the policy let a frozen migration be written')
  agent.say(`  refused (${refused.code}): ${refused.hint.text}`)
  await agent.think(3)
  const suggested = refused.hint.args ?? {}
  agent.say(`● write_file ${String(suggested['path'])}, as the hint says`)
  const written = await workshop.call('write_file', suggested)
  agent.say(`  ${written.ok ? written.text : written.message}\n`)
  await workshop.end()
  agent.say('● going on with the statements')
  const told = await agent.typed()
  agent.say(`\n● told: ${told ?? 'nothing'}`)
  await agent.think(2)
  await finish(agent, '3.1', FILE)
  const note = commandLine(['note', 'send'], {
    to: 'teal-badger',
    task: '3.2',
    category: 'HANDOFF',
    subject: 'rows.ts is yours',
    body: 'Statements stream through readRows; rows.ts is untouched.',
    'next-action': 'read exchange rates through readRows',
    scope: 'src/read/rows.ts',
  })
  mustSucceed(note, await agent.heimdall(note))
  await agent.think(2)
  const release = ['claim', 'release', 'src/read/**']
  mustSucceed(release, await agent.heimdall(release))
  await agent.think(2)
  return 0
}
