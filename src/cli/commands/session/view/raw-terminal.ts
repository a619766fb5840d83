// The outer terminal as a mere pipe for bytes: nothing is done to what is typed, nor to what is written.
import { spawnSync } from 'node:child_process'
import { isErrno } from '../../../../errors.ts'

/**
 * Node's raw mode leaves output processing on, and adds a carriage return to each line feed even where the terminal did
 * not: what the session's own terminal has processed would be processed twice. Node has no call for it; `stty` has.
 * The way back is Node's: it puts back everything as it was found before the first change.
 */
export function makeRaw(stdin: NodeJS.ReadStream): void {
  stdin.setRawMode(true)
  const { error } = spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
  // Without it lines are drawn as before: right for all but programs that switch off output processing themselves.
  if (error !== undefined && !isErrno(error, 'ENOENT', 'EACCES', 'EAGAIN')) throw error
}
