// Workers of the sample fleet, each a process of its own with servers that it has really probed, and a task that waits in the queue for one of them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launcher, startProgram } from './programs.ts'
import type { SampleFleet } from './sample-fleet.ts'
import { until } from './wait.ts'

/** Of three, one is too small for the task, one would do, and one is cheaper than that. */
const SAMPLE_WORKERS = [
  { name: 'swift-hare', model: 'claude-haiku-4-5' },
  { name: 'granite-yak', model: 'claude-opus-5-5' },
  { name: 'hazel-mole', model: 'claude-sonnet-5' },
] as const

export const QUEUED_TASK = { id: 'RATE-61', title: 'Quote: round per parcel, not per basket' } as const

export async function startSampleWorkers(fleet: SampleFleet): Promise<void> {
  const script = join(fleet.home, 'worker.sh')
  writeFileSync(script, `#!/bin/sh\nprintf '{"status":"done","reply":"rounded"}' > "$HEIMDALL_RESULT_FILE"\n`, {
    mode: 0o755,
  })
  await Promise.all(
    SAMPLE_WORKERS.map(async ({ name, model }) => {
      const flags = ['--name', name, '--model', model, '--slots', '2', '--servers', 'claude']
      const program = startProgram([...launcher('heimdall'), 'worker', 'start', ...flags, '--', script], {
        cwd: fleet.root,
        env: { ...fleet.env, ...fleet.more },
      })
      await until(`${name} to take tasks`, () => program.stderr().includes('takes tasks at'), {
        context: () => program.stderr(),
      })
    }),
  )
  // While nobody brings tasks to them, nobody asks them either.
  await fleet.json(['worker', 'announce'], { env: fleet.more })
  // Nobody brings it to a worker until somebody sends one from the page: it stays in the queue, and says who would get it.
  const needs = ['--priority', 'high', '--tier', 'sonnet', '--mcp', 'tracker', '--scope', 'src/rates/quote.ts']
  const brief = `${QUEUED_TASK.title}\n\nTotals differ by a cent from what the carrier bills.`
  await fleet.json(['task', 'add', brief, '--id', QUEUED_TASK.id, ...needs, '--budget', '40000', '--within', '6h'], {
    env: fleet.more,
  })
}
