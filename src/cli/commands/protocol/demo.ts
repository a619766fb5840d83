// heimdall protocol demo: what this protocol saves on a shipped project, measured here and now.
import { demoLines } from '../../../briefing/demo/card.ts'
import { runDemo } from '../../../briefing/demo/three-briefings.ts'
import type { Run } from '../../command.ts'
import type { protocolDemo } from '../../table/briefing.ts'

export const run: Run<typeof protocolDemo> = async (context) => {
  const demo = await runDemo(context.clock)
  const { arms, ...figures } = demo
  const isFaithful = demo.fidelity.lost.length === 0
  return {
    data: { ...figures, briefs: arms.protocol.briefs },
    text: demoLines(demo).join('\n'),
    exit: isFaithful ? 0 : 1,
  }
}
