// A glance at bytes before anybody looks closely: can there be a secret in them at all?

/** Three letters that stand in every secret of a known shape, or in the word beside it; rare ones, so that few texts are suspected. */
const IN_SECRETS =
  'sk- hp_ ho_ hu_ hs_ hr_ b_p glp xox KIA Iza pm_ eyJ ----- rer :// ssw ssp SSW ecr ECR oke OKE pi_ pi- piK pik PI_ PI- PIK riz RIZ'.split(
    ' ',
  )

const ASCII_END = 0x80

/** Knows ASCII only: whoever meets another byte has to look closely anyway. */
export class Suspects {
  /** By the last two of three letters, `first * 128 + second`: 1 when some three end so. */
  readonly pairs = new Uint8Array(ASCII_END * ASCII_END)
  readonly #threes = new Set<number>()
  /** A value too short to be told by three letters: then everything is suspect. */
  readonly isEverything: boolean

  constructor(values: readonly string[]) {
    this.isEverything = values.some((value) => Buffer.byteLength(value) < 3)
    for (const text of [...IN_SECRETS, ...values]) {
      const [a = 0, b = 0, c = 0] = Buffer.from(text)
      // A value that begins with another byte than ASCII stands in no text of ASCII alone.
      if (a >= ASCII_END || b >= ASCII_END || c >= ASCII_END) continue
      this.pairs[b * ASCII_END + c] = 1
      this.#threes.add((a * ASCII_END + b) * ASCII_END + c)
    }
  }

  /** To be asked where `pairs` says so. */
  has(a: number, b: number, c: number): boolean {
    return this.#threes.has((a * ASCII_END + b) * ASCII_END + c)
  }
}
