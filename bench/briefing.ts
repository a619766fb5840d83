// Briefing: tokens against verbatim briefs, start of the two commands that agents call most, and hydration of a large closure.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFact } from '../src/briefing/blackboard.ts'
import { hydratedText } from '../src/briefing/capsule-text.ts'
import { hydrate, writeCapsule } from '../src/briefing/capsules.ts'
import { loadCorpus } from '../src/briefing/demo/corpus.ts'
import { runDemo } from '../src/briefing/demo/three-briefings.ts'
import { cachedCost, rawCost } from '../src/briefing/demo/pricing.ts'
import { openPlanning } from '../src/briefing/planning.ts'
import { setSymbol } from '../src/briefing/symbols.ts'
import { systemClock } from '../src/clock.ts'
import { type Comparison, runBench, type Side } from './support/bench.ts'

const CAPSULES = 1_000

await runBench({
  name: 'briefing',
  about: 'the token-frugal protocol on the shipped corpus, and what its commands cost to run',
  async prepare() {
    const root = mkdtempSync(join(tmpdir(), 'hm-bench-'))
    const planning = openPlanning({ root, planningDir: join(root, '.planning') }, systemClock, console.error)
    await setSymbol(planning, 'F12', 'src/matching/engine.ts')
    await setFact(planning, 'dev_port', '5173', null)
    // Each builds on the two before it: a closure as deep as it is large.
    for (let i = 0; i < CAPSULES; i += 1)
      writeCapsule(planning, `c${i}`, {
        what: `did part ${i} of the work`,
        where: `src/part-${i}.ts`,
        gotcha: 'mind the order',
        depends: [i - 1, i - 2].filter((need) => need >= 0).map((need) => `c${need}`),
      })
    const demo = await runDemo(systemClock, loadCorpus('corpus/tally'))
    const tokens = (spawns: number, kind: 'raw' | 'cached', goal: number): Comparison => {
      const costOf = kind === 'raw' ? rawCost : cachedCost
      return {
        what: `a wave of ${spawns} spawns, ${kind === 'raw' ? 'uncached' : 'prompt caching priced in for all'}`,
        unit: 'tokens',
        rounds: 1,
        ours: { name: 'by reference', measure: () => costOf(demo.protocol, spawns) },
        peers: [
          { name: 'verbatim', measure: () => costOf(demo.verbatim, spawns), goal: { atMost: goal } },
          { name: 'by hand, with care', measure: () => costOf(demo.byHand, spawns) },
        ],
      }
    }
    const starts = (name: string, args: readonly string[], output: RegExp): Comparison => ({
      what: `${name}, from spawn to exit`,
      unit: 'ms',
      rounds: 40,
      ours: command(name, args, root, output),
      peers: [{ ...command('node -e 0', ['-e', '0'], root, /^$/), goal: { atMost: 1.6 } }],
    })
    const bin = (name: string): string => join(process.cwd(), 'bin', name)
    return {
      comparisons: [
        tokens(3, 'raw', 0.15),
        tokens(3, 'cached', 1),
        tokens(10, 'cached', 1),
        starts('heimdall-resolve F12', [bin('heimdall-resolve'), 'F12'], /^src\/matching\/engine\.ts\n$/),
        starts('heimdall-blackboard get', [bin('heimdall-blackboard'), 'get', 'dev_port'], /^5173\n$/),
        {
          what: `hydration of a closure of ${CAPSULES} capsules`,
          unit: 'ms',
          rounds: 15,
          ours: timed('hydrate', () =>
            hydrate(planning, [`c${CAPSULES - 1}`])
              .map(hydratedText)
              .join('\n'),
          ),
          peers: [
            { name: 'limit', measure: () => 100, goal: { atMost: 1 } },
            timed('reading the same files', () => {
              const folder = join(planning.dir, 'protocol/capsules')
              return readdirSync(folder)
                .map((name) => readFileSync(join(folder, name), 'utf8'))
                .join('')
            }),
          ],
        },
      ],
      cleanup: () => rmSync(root, { recursive: true, force: true }),
    }
  },
})

function timed(name: string, act: () => string): Side {
  return {
    name,
    measure() {
      const before = performance.now()
      const text = act()
      const tookMs = performance.now() - before
      if (text.split('WHAT: did part').length !== CAPSULES + 1) throw new Error(`${name} read something else`)
      return tookMs
    },
  }
}

function command(name: string, args: readonly string[], cwd: string, output: RegExp): Side {
  return {
    name,
    measure() {
      const before = performance.now()
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
      const tookMs = performance.now() - before
      if (status !== 0 || !output.test(stdout)) throw new Error(`${name} ended with ${status}: ${stdout}${stderr}`)
      return tookMs
    },
  }
}
