// The numbered lines of the `pty-writer` program, as a terminal passes them on, and whether a client got them all.
import { fixture } from '../../support/programs.ts'

export const writer = (bytes: number, code = 0): string[] => [...fixture('pty-writer'), String(bytes), String(code)]

/** What arrives: each line once and in order, with the terminal's CR LF. */
export class LineCheck {
  #rest = ''
  lines = 0
  firstWrong: string | undefined

  push(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString('latin1')).split('\r\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      // Echo and whatever else comes before the first line.
      if (this.lines === 0 && !line.startsWith('0000000000')) continue
      if (line.slice(0, 10) !== String(this.lines).padStart(10, '0') || line.length !== 71)
        this.firstWrong ??= `line ${this.lines}: ${line.slice(0, 80)}`
      this.lines += 1
    }
  }

  get isComplete(): boolean {
    return this.firstWrong === undefined && this.#rest === ''
  }
}

/** Lines that the writer makes of so many bytes. */
export const linesOf = (bytes: number): number => Math.ceil(bytes / 72)
