// How large the loops run: small in `npm test`, as stated in the proof with `npm run soak`.

export const isSoak = process.env['HEIMDALL_SOAK'] === '1'

/** `scaled(40, 250)`: 40 rounds in the tests, 250 in the soak. */
export function scaled(inTests: number, inSoak: number): number {
  return isSoak ? inSoak : inTests
}
