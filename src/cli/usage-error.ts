// The error of a command line that cannot be run as typed.
import { HeimdallError } from '../errors.ts'

export const usageError = (message: string, hint?: string): HeimdallError =>
  new HeimdallError('USAGE', message, hint === undefined ? {} : { hint })
