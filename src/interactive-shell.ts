// Shells that read commands from a terminal: some of them catch SIGTERM only to pass over it, so that it does not show.
import { basename } from 'node:path'

const SHELLS = new Set([
  'sh',
  'ash',
  'bash',
  'dash',
  'zsh',
  'csh',
  'tcsh',
  'ksh',
  'ksh93',
  'mksh',
  'oksh',
  'pdksh',
  'yash',
])

/** By its command line: a shell that was given neither a script nor a command. A login shell has a dash before its name. */
export function isInteractiveShell([program = '', ...words]: readonly string[]): boolean {
  if (!SHELLS.has(basename(program).replace(/^-/, ''))) return false
  return words.every((word) => /^[-+]/.test(word)) && !words.some((word) => /^-[a-z]*c/.test(word))
}
