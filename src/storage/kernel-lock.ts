// Open-file-description locks of the kernel, which die with their holder and exclude each other also within one process.
import { isErrno } from '../errors.ts'

interface Binding {
  tryLock(fd: number, offset: number, length: number, isExclusive: boolean): void
  unlock(fd: number, offset: number, length: number): void
}

/** Takes the lock on one place of the file (a byte, which need not exist), or returns false when another open file description has it. */
export function tryLock(fd: number, place = 0): boolean {
  try {
    binding().tryLock(fd, place, 1, true)
    return true
  } catch (error) {
    if (isErrno(error, 'EAGAIN')) return false
    throw error
  }
}

/** Together with others who only want to be sure that nobody holds it alone; for files that are open to be read. */
export function trySharedLock(fd: number, place = 0): boolean {
  try {
    binding().tryLock(fd, place, 1, false)
    return true
  } catch (error) {
    if (isErrno(error, 'EAGAIN')) return false
    throw error
  }
}

/** Gives the lock back while the file stays open. */
export function unlock(fd: number, place = 0): void {
  binding().unlock(fd, place, 1)
}

/** For whoever lives long and locks late: by then the package may have been replaced by a newer one, or removed. */
export function loadLocks(): void {
  binding()
}

let loaded: Binding | undefined

/** Loaded on first use: a command that only reads must not pay for a native module. */
function binding(): Binding {
  loaded ??= load()
  return loaded
}

/** The package's own loader takes 20 ms to find the file that we can name; it is asked only on platforms with another layout. */
function load(): Binding {
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  try {
    return require(
      `fs-native-extensions/prebuilds/${process.platform}-${process.arch}/fs-native-extensions.node`,
    ) as Binding
  } catch (error) {
    if (!isErrno(error, 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED')) throw error
    return require('fs-native-extensions/binding') as Binding
  }
}
