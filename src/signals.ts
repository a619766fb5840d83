// Signals to processes and groups that may be gone by the time they arrive.
import { isErrno } from './errors.ts'

/** True when it was delivered; a process that is gone, or was never ours to signal, is not an error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (isErrno(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}
