// Bytes in any chunking to bytes that tear no character: the emulator's own decoder garbles torn ones with a byte 0x80 (…, “, —). Pure.

const NONE = new Uint8Array()

export class WholeCharacters {
  /** The beginning of a character whose rest has not come yet. */
  #torn: Uint8Array = NONE

  push(chunk: Uint8Array): Uint8Array {
    const bytes = this.#torn.length === 0 ? chunk : Buffer.concat([this.#torn, chunk])
    const end = bytes.length - tornBytes(bytes)
    this.#torn = end === bytes.length ? NONE : bytes.slice(end)
    return end === bytes.length ? bytes : bytes.subarray(0, end)
  }
}

/** How many bytes at the end begin a character that they do not complete. */
function tornBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0
  }
  return 0
}

/** Of a character that begins so; what begins no character is none, and is not waited for. */
function lengthOf(lead: number): number {
  if (lead >= 0xf8) return 1
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
}
