// The sample fleet with a hub that stays, for whoever wants to look at it: `node scripts/sample-fleet.mjs`.
import { createInterface } from 'node:readline'
import { finish } from './outside-tests.ts'
import { parcelworks, startHub, startSampleFleet } from './sample-fleet.ts'
import { startSampleWorkers } from './sample-workers.ts'

/** A model that takes its time, so that there is an axis to look at. */
const PAUSE_SECONDS = 6

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const count = Number(process.argv[2] ?? 10)
const stopped = new Promise<void>((stop) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
})
try {
  const fleet = parcelworks(PAUSE_SECONDS)
  say(`A fleet of ${count} in ${fleet.root}, with a home folder of its own.`)
  await startSampleFleet(fleet, count)
  await startSampleWorkers(fleet)
  const hub = await startHub(fleet, fleet.more)
  say('A link is for one visit within five minutes; Enter prints another, Ctrl-C ends everything.')
  say(await hub.link())
  createInterface({ input: process.stdin }).on('line', () => {
    hub.link().then(say, (error: unknown) => say(`no link: ${error instanceof Error ? error.message : String(error)}`))
  })
  await stopped
  say('Ending it…')
} finally {
  await finish()
}
process.exit(0)
