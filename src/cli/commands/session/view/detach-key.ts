// Finds the detach key in what a terminal sends, wherever it stands in a read, but not inside a paste.

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'
/** Longest form looked for is a key of the kitty protocol with all its fields. */
const RECENT_CHARS = 24
/** Modifier bits of the kitty protocol: Control alone; Caps Lock and Num Lock do not count. */
const CONTROL = 4
const LOCKS = 64 | 128

/** `CSI 92;5u` of the kitty protocol, and `CSI 27;5;92~` of xterm's modifyOtherKeys. */
const FORMS = [/\u001b\[(?<key>\d+)(?::\d*)*;(?<modifiers>\d+)(?::1)?u$/, /\u001b\[27;(?<modifiers>\d+);(?<key>\d+)~$/]

export interface Typed {
  /** What goes to the session. */
  readonly bytes: Buffer
  readonly isDetach: boolean
}

export class DetachKey {
  readonly #byte: number
  /** The key without Control, as terminals name it that write keys as numbers. */
  readonly #letter: number
  #recent = ''
  #isPaste = false

  /** 0 turns the key off. */
  constructor(byte: number) {
    this.#byte = byte
    this.#letter = byte >= 1 && byte <= 26 ? byte + 96 : byte + 64
  }

  take(chunk: Buffer): Typed {
    if (this.#byte === 0) return { bytes: chunk, isDetach: false }
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (byte === this.#byte && !this.#isPaste) return { bytes: chunk.subarray(0, at), isDetach: true }
      this.#recent = (this.#recent + String.fromCharCode(byte)).slice(-RECENT_CHARS)
      if (this.#recent.endsWith(PASTE_START)) this.#isPaste = true
      else if (this.#recent.endsWith(PASTE_END)) this.#isPaste = false
      const sequence = (byte === 0x75 || byte === 0x7e) && !this.#isPaste ? this.#writtenKey() : 0
      if (sequence > 0) return { bytes: chunk.subarray(0, Math.max(0, at + 1 - sequence)), isDetach: true }
    }
    return { bytes: chunk, isDetach: false }
  }

  /** Length of the escape sequence that ends here and is the detach key pressed; 0 when it is another one. */
  #writtenKey(): number {
    for (const form of FORMS) {
      const found = form.exec(this.#recent)
      const { key, modifiers } = found?.groups ?? {}
      if (found === null || Number(key) !== this.#letter) continue
      if (((Number(modifiers) - 1) & ~LOCKS) === CONTROL) return found[0].length
    }
    return 0
  }
}
