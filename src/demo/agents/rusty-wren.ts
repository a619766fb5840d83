// Runs checks until its budget is gone, then stops and says what is left, as the hint asks.
import type { DemoAgent } from './agent.ts'
import { commandLine, mustSucceed } from '../command-reply.ts'

const FOLDERS = ['src/book', 'src/http', 'src/money', 'src/read', 'db/migrations']

export async function rustyWren(agent: DemoAgent): Promise<number> {
  const workshop = agent.server('workshop')
  const left: string[] = []
  for (const folder of FOLDERS) {
    if (left.length > 0) {
      left.push(folder)
      continue
    }
    const checked = await workshop.call('run_checks', { folder })
    agent.say(checked.ok ? `● ${folder}: ${checked.text}` : `\n● refused (${checked.code}): ${checked.hint.text}`)
    if (!checked.ok) left.push(folder)
    await agent.think(checked.ok ? 2 : 6)
  }
  const note = commandLine(['note', 'send'], {
    to: 'broadcast',
    category: 'INFO',
    subject: 'Budget for checks is spent',
    body: `Not checked: ${left.join(', ')}`,
  })
  mustSucceed(note, await agent.heimdall(note))
  await workshop.end()
  agent.say(`● not checked: ${left.join(', ')}`)
  await agent.think(2)
  return 0
}
