// Disk faults on demand: any `Fs` with its Nth call failing, once or from then on.
import type { Fs } from '../../src/storage/fs.ts'
import { systemError } from './simulated-disk.ts'

export interface Fault {
  /** Which call fails, counted from 1 over all operations. */
  readonly call: number
  /** An errno, or `short`: a write that takes only half of its bytes (other calls then fail with ENOSPC). */
  readonly kind: string
  /** Fails every later call as well. */
  readonly isPersistent: boolean
}

export interface FailingFs {
  readonly fs: Fs
  readonly calls: () => number
  /** True once the fault has struck. */
  readonly hasStruck: () => boolean
  /** From now on nothing fails: somebody made room or changed the cable. */
  heal(): void
}

export function failingFs(inner: Fs, fault: Fault | undefined): FailingFs {
  let calls = 0
  let isHealed = false
  let hasStruck = false
  const strikes = (): boolean => {
    calls += 1
    if (isHealed || fault === undefined) return false
    if (calls !== fault.call && !(fault.isPersistent && calls > fault.call)) return false
    hasStruck = true
    return true
  }
  const error = (name: string): Error => systemError(fault?.kind === 'short' ? 'ENOSPC' : (fault?.kind ?? 'EIO'), name)

  const wrap = <Args extends unknown[], Result>(
    name: string,
    call: (...args: Args) => Result,
  ): ((...args: Args) => Result) => {
    return (...args) => {
      if (strikes()) throw error(name)
      return call(...args)
    }
  }
  const wrapAsync = (name: string, call: (fd: number) => Promise<void>): ((fd: number) => Promise<void>) => {
    return async (fd) => {
      if (strikes()) throw error(name)
      await call(fd)
    }
  }

  const fs: Fs = {
    open: wrap('open', (path, flags, mode) => inner.open(path, flags, mode)),
    close(fd) {
      const fails = strikes()
      // As on Linux: a failed close has closed all the same, and it fails with one of three errors.
      inner.close(fd)
      if (fails) throw ['ENOSPC', 'EDQUOT'].includes(fault?.kind ?? '') ? error('close') : systemError('EIO', 'close')
    },
    write(fd, bytes) {
      if (!strikes()) return inner.write(fd, bytes)
      if (fault?.kind !== 'short' || bytes.byteLength < 2) throw error('write')
      return inner.write(fd, bytes.subarray(0, bytes.byteLength >> 1))
    },
    read: wrap('read', (fd, into, position) => inner.read(fd, into, position)),
    stat: wrap('stat', (fd) => inner.stat(fd)),
    lstat: wrap('lstat', (path) => inner.lstat(path)),
    sync: wrap('sync', (fd) => inner.sync(fd)),
    syncLater: wrapAsync('syncLater', (fd) => inner.syncLater(fd)),
    syncDataLater: wrapAsync('syncDataLater', (fd) => inner.syncDataLater(fd)),
    tryLock: wrap('tryLock', (fd, place) => inner.tryLock(fd, place)),
    unlock: wrap('unlock', (fd, place) => inner.unlock(fd, place)),
    rename: wrap('rename', (from, to) => inner.rename(from, to)),
    unlink: wrap('unlink', (path) => inner.unlink(path)),
    mkdir: wrap('mkdir', (path, mode) => inner.mkdir(path, mode)),
  }
  return {
    fs,
    calls: () => calls,
    hasStruck: () => hasStruck,
    heal() {
      isHealed = true
    },
  }
}

/** Every fault that `run` can meet: each of its calls, each errno, once and for good. `run` is tried without a fault first, to count. */
export function* everyFault(callsWithoutFault: number, kinds: readonly string[]): Generator<Fault, void, void> {
  for (let call = 1; call <= callsWithoutFault; call += 1)
    for (const kind of kinds) for (const isPersistent of [false, true]) yield { call, kind, isPersistent }
}
