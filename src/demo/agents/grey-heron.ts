// Dies in the middle of its work, in a plain session that nobody keeps a run for: its claim stays, and half a file.
import { mkdirSync, writeFileSync } from 'node:fs'
import { mustSucceed } from '../command-reply.ts'
import type { DemoAgent } from './agent.ts'

export async function greyHeron(agent: DemoAgent): Promise<number> {
  const claim = ['claim', 'src/work/**', '--task', '3.3', '--intent', 'close a day']
  mustSucceed(claim, await agent.heimdall(claim))
  mkdirSync('src/work', { recursive: true })
  writeFileSync('src/work/close-day.ts', 'export const closeDay = (')
  agent.say('● writing src/work/close-day.ts …')
  await agent.think(4)
  process.kill(process.pid, 'SIGKILL')
  return await new Promise<number>(() => undefined)
}
