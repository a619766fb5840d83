// Randomness that can be repeated: a failing run says its seed.

/** Uniform numbers in [0, 1) from a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Runs `act` with a seed of its own, or the one in HEIMDALL_SEED; a failure then begins with the line that repeats it. */
export async function withSeed<T>(act: (random: () => number, seed: number) => T | Promise<T>): Promise<T> {
  const given = process.env['HEIMDALL_SEED']
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given)
  try {
    return await act(seededRandom(seed), seed)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Error(`HEIMDALL_SEED=${seed} repeats this: ${message}`, { cause: error })
  }
}
