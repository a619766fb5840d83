// Needs a person: asks, waits for what is typed, goes on.
import type { DemoAgent } from './agent.ts'

const QUESTION = 'Do amounts of half a cent round to even, or up? [even/up]'

export async function plumVole(agent: DemoAgent): Promise<number> {
  agent.say('● reading src/money/round.ts\n')
  await agent.think(2)
  agent.say(QUESTION)
  await agent.launch('hm', ['report', '--needs-input', QUESTION])
  const answer = (await agent.typed()) ?? ''
  await agent.launch('hm', ['report', '--working'])
  if (answer === '') {
    agent.say('\n● nobody has answered; leaving it as it is')
    return 1
  }
  agent.say(`\n● rounding: ${answer}`)
  const fact = ['fact', 'set', 'rounding', answer]
  await agent.heimdall(fact)
  await agent.think(2)
  return 0
}
