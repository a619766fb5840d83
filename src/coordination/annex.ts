// Texts that are too large for an entry, beside the log: an entry names one, and whoever needs it fetches it.

export interface AnnexedText {
  readonly name: string
  /** Since it was laid there, by the clock of where it lies. */
  readonly ageMs: number
}

/** In a fleet they lie in the engine, for all machines; alone, in the store. */
export interface Annex {
  /** Before the entry that names it. The same name again is the same text. */
  lay(name: string, text: string): Promise<void>
  /** Nothing when it is not there, or not all of it. At most this many bytes are unpacked. */
  fetch(name: string, bytesMax: number): Promise<string | undefined>
  list(): Promise<readonly AnnexedText[]>
  clear(names: readonly string[]): Promise<void>
}

/** A text that moves with the state of its project. */
export interface CarriedText {
  readonly name: string
  readonly text: string
}

export async function allOf(annex: Annex, bytesMax: number): Promise<CarriedText[]> {
  const found: CarriedText[] = []
  for (const { name } of await annex.list()) {
    const text = await annex.fetch(name, bytesMax)
    if (text !== undefined) found.push({ name, text })
  }
  return found
}
