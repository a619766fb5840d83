// Whether the words of a command line reach a command as they were typed: Node.js reads them as UTF-8, whatever they are.
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { HeimdallError, isErrno } from '../../../errors.ts'
import { printable } from '../../../ids.ts'

/** What stands for bytes that are no UTF-8, and may also have been typed. */
const REPLACEMENT = '\u{fffd}'

/** Refuses what would be another file's name by the time the command sees it. Where there is no /proc nobody can tell. */
export function checkArgumentBytes(command: readonly string[]): void {
  const changed = command.find((word) => word.includes(REPLACEMENT))
  if (changed === undefined || isUtf8(ownCommandLine())) return
  throw new HeimdallError(
    'USAGE',
    `the argument ${printable(changed)} is not UTF-8, and would reach the command changed`,
    {
      hint: 'put the command into a script, and run that: hm run -- sh FILE',
    },
  )
}

function ownCommandLine(): Buffer {
  try {
    return readFileSync('/proc/self/cmdline')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES')) return Buffer.alloc(0)
    throw error
  }
}
