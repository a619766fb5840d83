// The programs of the demo's fleet: `node dist/demo.cjs amber-otter`. Small, scripted, and no model in any of them.
import { dirname, join } from 'node:path'
import { systemClock } from '../clock.ts'
import { createAgent } from './agents/agent.ts'
import { amberOtter } from './agents/amber-otter.ts'
import { clerk } from './agents/clerk.ts'
import { cobaltFox } from './agents/cobalt-fox.ts'
import { greyHeron } from './agents/grey-heron.ts'
import { plumVole } from './agents/plum-vole.ts'
import { rustyWren } from './agents/rusty-wren.ts'
import { tealBadger } from './agents/teal-badger.ts'
import { trackerServer } from './servers/tracker.ts'
import { workshopServer } from './servers/workshop.ts'

const AGENTS = {
  'amber-otter': amberOtter,
  'teal-badger': tealBadger,
  'grey-heron': greyHeron,
  'cobalt-fox': cobaltFox,
  'rusty-wren': rustyWren,
  'plum-vole': plumVole,
  clerk,
} as const

const SERVERS = { workshop: workshopServer, tracker: trackerServer } as const

const [, program = '', name = ''] = process.argv
if (Object.hasOwn(SERVERS, name)) SERVERS[name as keyof typeof SERVERS](process.env)
else
  void AGENTS[name as keyof typeof AGENTS](
    createAgent({
      name,
      env: process.env,
      clock: systemClock,
      program,
      launcher: join(dirname(program), '../bin/heimdall'),
    }),
  ).then((code) => process.exit(code))
