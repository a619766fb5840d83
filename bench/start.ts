// How long a command takes to start: `heimdall --version` against the bare interpreter.
import { spawnSync } from 'node:child_process'
import { runBench, type Side } from './support/bench.ts'

function startOf(name: string, args: readonly string[], output: RegExp): Side {
  return {
    name,
    measure() {
      const before = performance.now()
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      const tookMs = performance.now() - before
      if (status !== 0 || !output.test(stdout)) throw new Error(`${name} ended with ${status}: ${stdout}${stderr}`)
      return tookMs
    },
  }
}

await runBench({
  name: 'start',
  about: 'start-up of the launcher, from spawn to exit',
  prepare: () => ({
    comparisons: [
      {
        what: 'start and exit',
        unit: 'ms',
        rounds: 40,
        ours: startOf('heimdall --version', ['bin/heimdall', '--version'], /^\d+\.\d+\.\d+\n$/),
        peers: [{ ...startOf('node -e 0', ['-e', '0'], /^$/), goal: { atMost: 2.5 } }],
      },
      {
        what: 'start, find the command in the table, and exit',
        unit: 'ms',
        rounds: 20,
        ours: startOf('heimdall version', ['bin/heimdall', 'version'], /\d+\.\d+\.\d+/),
        peers: [{ ...startOf('node -e 0', ['-e', '0'], /^$/), goal: { atMost: 2.5 } }],
      },
    ],
  }),
})
