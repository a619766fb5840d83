// A terminal that was closed while we drew in it: the window is gone, and so is everything that could be put right there.
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { isErrno } from '../../../../errors.ts'
import type { Context } from '../../../command.ts'

/**
 * At its end Node sets the terminals that it was started with as it found them, and aborts where one does not answer any
 * more. A descriptor that is closed it passes over.
 */
export function surviveItsEnd({ stdin, stdout }: Context): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  process.once('exit', () => {
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd)
  })
  // The views leave by the signal that comes with it, or by the end of their input.
  const onError = (error: Error): void => {
    if (!isErrno(error, 'EIO')) throw error
  }
  for (const stream of [stdin, stdout, process.stderr]) if (stream.isTTY) stream.on('error', onError)
}
