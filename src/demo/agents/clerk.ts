// What the workers of the demo run for a dispatched task: looks into the tracker and answers in the result file.
import { readFileSync, writeFileSync } from 'node:fs'
import type { DemoAgent } from './agent.ts'

export async function clerk(agent: DemoAgent): Promise<number> {
  const { HEIMDALL_BRIEF_FILE: brief = '', HEIMDALL_RESULT_FILE: result = '' } = agent.env
  agent.say(readFileSync(brief, 'utf8'))
  const tracker = agent.server('tracker')
  const tasks = await tracker.call('list_tasks', {})
  await tracker.end()
  await agent.think(3)
  const reply = tasks.ok ? `In this wave:\n${tasks.text}` : tasks.message
  writeFileSync(result, JSON.stringify({ status: tasks.ok ? 'done' : 'error', reply, ...(!tasks.ok && FAILED) }))
  agent.say(reply)
  return 0
}

const FAILED = { error: { summary: 'the tracker did not answer', code: 'tracker', phase: 'run', side_effects: 'none' } }
