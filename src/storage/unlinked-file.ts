// A file without a name: nobody else can open it, and it goes when its descriptor goes, however that happens.
import { openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/** To write and to read. Made anew and never through a link, so that whoever guesses its name gains nothing. */
export function openUnlinked(folder: string): number {
  const path = join(folder, `heimdall-held-${process.pid}-${Math.random().toString(36).slice(2)}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return fd
}
