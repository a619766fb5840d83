// Who of those that share a file is still there: each holds a byte of a file of locks, and the kernel frees it with the process.
import { onDisk } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'
import { openPlainFile } from './plain-file.ts'

/** Two who happened upon the same byte would be a matter of one in billions; the lock tells them apart all the same. */
const SEATS = 2 ** 31

export class Seats {
  readonly #path: string
  readonly #fs: Fs
  #fd: number | undefined
  #mine: number | undefined

  constructor(path: string, fs: Fs = realFs) {
    this.#path = `${path}.seats`
    this.#fs = fs
  }

  /** The same one from the first call until `leave`; never 0. */
  take(): number {
    // Loaded where it is needed: every look at a store loads this file, and few of those take a seat.
    const { randomInt } = process.getBuiltinModule('node:crypto')
    while (this.#mine === undefined) {
      const seat = randomInt(1, SEATS)
      if (onDisk(this.#path, () => this.#fs.tryLock(this.#file(), seat))) this.#mine = seat
    }
    return this.#mine
  }

  isTaken(seat: number): boolean {
    if (seat === this.#mine) return true
    return onDisk(this.#path, () => {
      const isFree = this.#fs.tryLock(this.#file(), seat)
      if (isFree) this.#fs.unlock(this.#file(), seat)
      return !isFree
    })
  }

  leave(): void {
    if (this.#fd !== undefined) this.#fs.close(this.#fd)
    this.#fd = undefined
    this.#mine = undefined
  }

  #file(): number {
    this.#fd ??= openPlainFile(this.#fs, this.#path, O.O_RDWR | O.O_CREAT, 0o600)
    return this.#fd
  }
}
