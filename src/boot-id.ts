// What is different after each boot of the machine. Whatever else is known of processes, this is asked of the system and of no variable.
import { readFileSync } from 'node:fs'
import { isErrno } from './errors.ts'
import { ask, dialect } from './ps-command.ts'

let boot: string | undefined

/** Start times count from boot; after a reboot the same numbers are other processes. */
export function bootId(): string {
  boot ??= fromProc() ?? fromSysctl() ?? UNKNOWN_BOOT
  return boot
}

/** Where the system has no word for it. */
export const UNKNOWN_BOOT = 'unknown'

function fromProc(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch (error) {
    // Linux alone has it, and a sandbox may hide it.
    if (isErrno(error, 'ENOENT', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}

const fromSysctl = (): string | undefined =>
  dialect.boot.map((name) => ask('sysctl', ['-n', name])?.trim()).find((value) => value !== undefined)
