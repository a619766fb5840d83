// The bench frame: ours and its peers measured in one run, turn by turn, with medians, spread, ratio and a goal.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release } from 'node:os'
import { comparisonText, loadText } from './report.ts'
import { summarize, type Summary } from './summary.ts'

export interface Side {
  readonly name: string
  /** One measurement, in the comparison's unit. Throwing fails the bench: a peer that cannot run is no comparison. */
  measure(): number | Promise<number>
}

/** What ours divided by a peer must be. Without a goal the ratio is only reported. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

export interface Peer extends Side {
  readonly goal?: Goal
}

export interface Comparison {
  readonly what: string
  readonly unit: string
  readonly rounds: number
  readonly ours: Side
  readonly peers: readonly [Peer, ...Peer[]]
}

/** Several figures of the same runs, for what takes too long to be run once for each. */
export interface Runs<F extends string> {
  readonly rounds: number
  readonly ours: Runner<F>
  readonly peers: readonly Runner<F>[]
  readonly figures: readonly Figure<F>[]
}

export interface Runner<F extends string> {
  readonly name: string
  run(): Promise<Readonly<Record<F, number>>>
}

export interface Figure<F extends string> {
  readonly of: F
  readonly what: string
  readonly unit: string
  /** By the peer's name. */
  readonly goals?: Readonly<Record<string, Goal>>
}

export interface Bench {
  readonly name: string
  readonly about: string
  /** Makes what the comparisons need and returns them; `cleanup` runs at the end, also after a failure. */
  prepare(): PreparedBench | Promise<PreparedBench>
}

interface PreparedBench {
  readonly comparisons: readonly (Comparison | Runs<string>)[]
  cleanup?(): void | Promise<void>
}

export interface SideResult {
  readonly name: string
  readonly summary: Summary
  readonly samples: readonly number[]
}

export interface PeerResult extends SideResult {
  /** Median of what ours was, divided by the peer, round by round: what slows the machine for a while slows both. */
  readonly ratio: number
  readonly goal: string | null
  readonly passed: boolean
}

export interface ComparisonResult {
  readonly what: string
  readonly unit: string
  readonly rounds: number
  readonly ours: SideResult
  readonly peers: readonly PeerResult[]
}

/**
 * Runs a bench as a program: prints it, writes `bench/results/<name>.json`, and exits 1 when a goal is missed or a side
 * cannot run. With `parts`, only the comparisons whose title has one of them, and nothing is written.
 */
export async function runBench(bench: Bench, parts: readonly string[] = process.argv.slice(2)): Promise<void> {
  console.log(`${bench.name}: ${bench.about}`)
  const prepared = await bench.prepare()
  const results: ComparisonResult[] = []
  const loadBefore = loadavg()
  try {
    for (const runs of chosen(bench, prepared.comparisons.map(asRuns), parts))
      for (const result of await compareRuns(runs)) {
        results.push(result)
        console.log(comparisonText(result))
      }
  } finally {
    await prepared.cleanup?.()
  }
  console.log(`  ${loadText(loadBefore, loadavg())}`)
  if (parts.length === 0) {
    mkdirSync('bench/results', { recursive: true })
    writeFileSync(
      `bench/results/${bench.name}.json`,
      `${JSON.stringify(record(bench, results, loadBefore), null, 2)}\n`,
    )
  }
  if (results.some(({ peers }) => peers.some(({ passed }) => !passed))) process.exitCode = 1
}

function chosen({ name }: Bench, all: readonly Runs<string>[], parts: readonly string[]): readonly Runs<string>[] {
  if (parts.length === 0) return all
  const found = all
    .map((runs) => ({
      ...runs,
      figures: runs.figures.filter(({ what }) => parts.some((part) => what.includes(part))),
    }))
    .filter(({ figures }) => figures.length > 0)
  const titles = all.flatMap(({ figures }) => figures.map(({ what }) => `  ${what}`)).join('\n')
  if (found.length === 0) throw new Error(`${name} has no part with ${parts.join(' or ')} in its title:\n${titles}`)
  return found
}

const THE_FIGURE = 'figure'

function asRuns(comparison: Comparison | Runs<string>): Runs<string> {
  if ('figures' in comparison) return comparison
  const { what, unit, rounds, ours, peers } = comparison
  const runner = (side: Side): Runner<string> => ({
    name: side.name,
    run: async () => ({ [THE_FIGURE]: await side.measure() }),
  })
  const goals = Object.fromEntries(peers.flatMap(({ name, goal }) => (goal === undefined ? [] : [[name, goal]])))
  return {
    rounds,
    ours: runner(ours),
    peers: peers.map(runner),
    figures: [{ of: THE_FIGURE, what, unit, goals }],
  }
}

/** All sides once per round, each round starting with another one, so that drift of the machine falls on all alike. */
export async function compareRuns<F extends string>(runs: Runs<F>): Promise<ComparisonResult[]> {
  const sides: readonly Runner<F>[] = [runs.ours, ...runs.peers]
  const samples = new Map<Runner<F>, Readonly<Record<F, number>>[]>(sides.map((side) => [side, []]))
  for (const side of sides) await side.run()
  for (let round = 0; round < runs.rounds; round += 1)
    for (let turn = 0; turn < sides.length; turn += 1) {
      const side = sides[(round + turn) % sides.length]
      if (side !== undefined) samples.get(side)?.push(await side.run())
    }
  const resultOf = (side: Runner<F>, figure: F): SideResult => {
    const values = (samples.get(side) ?? []).map((sample) => sample[figure])
    return { name: side.name, summary: summarize(values), samples: values }
  }
  return runs.figures.map(({ of, what, unit, goals }) => {
    const ours = resultOf(runs.ours, of)
    return {
      what,
      unit,
      rounds: runs.rounds,
      ours,
      peers: runs.peers.map((peer) => {
        const result = resultOf(peer, of)
        const ratio = summarize(
          ours.samples.map((sample, round) => sample / (result.samples[round] ?? Number.NaN)),
        ).median
        const goal = goals?.[peer.name]
        return { ...result, ratio, goal: goalText(goal), passed: meets(goal, ratio) }
      }),
    }
  })
}

function meets(goal: Goal | undefined, ratio: number): boolean {
  if (goal === undefined) return true
  return 'atMost' in goal ? ratio <= goal.atMost : ratio >= goal.atLeast
}

function goalText(goal: Goal | undefined): string | null {
  if (goal === undefined) return null
  return 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
}

function record(
  { name, about }: Bench,
  comparisons: readonly ComparisonResult[],
  loadBefore: readonly number[],
): unknown {
  return {
    name,
    about,
    takenAt: new Date().toISOString(),
    machine: { node: process.version, kernel: release(), cpus: cpus().map(({ model }) => model) },
    load: { before: loadBefore, after: loadavg() },
    comparisons,
  }
}
