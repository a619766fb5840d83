// heimdall protocol init: makes or repairs the planning folder and publishes the message schema in it.
import { initPlanning } from '../../../briefing/init.ts'
import { escapeControls } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import type { protocolInit } from '../../table/briefing.ts'
import { planningOf } from '../../planning-of.ts'

export const run: Run<typeof protocolInit> = async (context) => {
  const paths = await initPlanning(planningOf(context))
  const text = [
    `initialized protocol layout under ${paths.protocol}`,
    `  symbols:    ${paths.symbols}`,
    `  blackboard: ${paths.blackboard}`,
    `  capsules:   ${paths.capsules}/`,
    `  ledger:     ${paths.ledger}`,
    `  schema:     ${paths.schema}`,
    `  log:        ${paths.log}`,
  ]
    .map(escapeControls)
    .join('\n')
  return { data: paths, text }
}
