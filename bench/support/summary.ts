// Order statistics of the samples of one side.

export interface Summary {
  readonly min: number
  readonly lowerQuartile: number
  readonly median: number
  readonly upperQuartile: number
  readonly max: number
}

export function summarize(samples: readonly number[]): Summary {
  if (samples.length === 0) throw new Error('no samples to summarize')
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (fraction: number): number => {
    const place = fraction * (sorted.length - 1)
    const below = sorted[Math.floor(place)] ?? Number.NaN
    const above = sorted[Math.ceil(place)] ?? Number.NaN
    return below + (above - below) * (place - Math.floor(place))
  }
  return { min: at(0), lowerQuartile: at(0.25), median: at(0.5), upperQuartile: at(0.75), max: at(1) }
}
