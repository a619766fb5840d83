// The bench frame: ours and its peers measured in one run, turn by turn, with medians, spread, ratio and a goal.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { comparisonText } from './report.ts'
import { summarize, type Summary } from './summary.ts'

export interface Side {
  readonly name: string
  /** One measurement, in the comparison's unit. Throwing fails the bench: a peer that cannot run is no comparison. */
  measure(): number | Promise<number>
}

export interface Peer extends Side {
  /** What ours divided by this peer must be. Without a goal the ratio is only reported. */
  readonly goal?: { readonly atMost: number } | { readonly atLeast: number }
}

export interface Comparison {
  readonly what: string
  readonly unit: string
  readonly rounds: number
  readonly ours: Side
  readonly peers: readonly [Peer, ...Peer[]]
}

export interface Bench {
  readonly name: string
  readonly about: string
  /** Makes what the comparisons need and returns them; `cleanup` runs at the end, also after a failure. */
  prepare(): PreparedBench | Promise<PreparedBench>
}

interface PreparedBench {
  readonly comparisons: readonly Comparison[]
  cleanup?(): void | Promise<void>
}

export interface SideResult {
  readonly name: string
  readonly summary: Summary
  readonly samples: readonly number[]
}

export interface PeerResult extends SideResult {
  /** Median of ours divided by median of the peer. */
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
  try {
    for (const comparison of chosen(bench, prepared.comparisons, parts)) {
      const result = await compare(comparison)
      results.push(result)
      console.log(comparisonText(result))
    }
  } finally {
    await prepared.cleanup?.()
  }
  if (parts.length === 0) {
    mkdirSync('bench/results', { recursive: true })
    writeFileSync(`bench/results/${bench.name}.json`, `${JSON.stringify(record(bench, results), null, 2)}\n`)
  }
  if (results.some(({ peers }) => peers.some(({ passed }) => !passed))) process.exitCode = 1
}

function chosen({ name }: Bench, all: readonly Comparison[], parts: readonly string[]): readonly Comparison[] {
  if (parts.length === 0) return all
  const found = all.filter(({ what }) => parts.some((part) => what.includes(part)))
  const titles = all.map(({ what }) => `  ${what}`).join('\n')
  if (found.length === 0) throw new Error(`${name} has no part with ${parts.join(' or ')} in its title:\n${titles}`)
  return found
}

/** All sides once per round, each round starting with another one, so that drift of the machine falls on all alike. */
export async function compare(comparison: Comparison): Promise<ComparisonResult> {
  const sides: readonly Side[] = [comparison.ours, ...comparison.peers]
  const samples = new Map<Side, number[]>(sides.map((side) => [side, []]))
  for (const side of sides) await side.measure()
  for (let round = 0; round < comparison.rounds; round += 1)
    for (let turn = 0; turn < sides.length; turn += 1) {
      const side = sides[(round + turn) % sides.length]
      if (side !== undefined) samples.get(side)?.push(await side.measure())
    }
  const resultOf = (side: Side): SideResult => {
    const values = samples.get(side) ?? []
    return { name: side.name, summary: summarize(values), samples: values }
  }
  const ours = resultOf(comparison.ours)
  return {
    what: comparison.what,
    unit: comparison.unit,
    rounds: comparison.rounds,
    ours,
    peers: comparison.peers.map((peer) => {
      const result = resultOf(peer)
      const ratio = ours.summary.median / result.summary.median
      return { ...result, ratio, goal: goalText(peer.goal), passed: meets(peer.goal, ratio) }
    }),
  }
}

function meets(goal: Peer['goal'], ratio: number): boolean {
  if (goal === undefined) return true
  return 'atMost' in goal ? ratio <= goal.atMost : ratio >= goal.atLeast
}

function goalText(goal: Peer['goal']): string | null {
  if (goal === undefined) return null
  return 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
}

function record({ name, about }: Bench, comparisons: readonly ComparisonResult[]): unknown {
  return {
    name,
    about,
    takenAt: new Date().toISOString(),
    machine: { node: process.version, kernel: release(), cpus: cpus().map(({ model }) => model) },
    comparisons,
  }
}
