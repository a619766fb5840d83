// Opening state files so that nothing planted at their path leads elsewhere: no symbolic link, no second name, no pipe.
import { fstatSync } from 'node:fs'
import { checkOwnFile } from '../own-folder.ts'
import { linkError } from './faults.ts'
import { type Fs, O, realFs } from './fs.ts'

/** Opens `path` and checks what was opened, not what was there before: a check ahead of the open could be outrun. */
export function openPlainFile(fs: Fs, path: string, flags: number, mode?: number): number {
  // Non-blocking, because opening a named pipe would otherwise wait for its other end forever.
  const fd = fs.open(path, flags | O.O_NOFOLLOW | O.O_NONBLOCK, mode)
  try {
    const { kind, links } = fs.stat(fd)
    if (kind !== 'file') throw linkError(path, kind === 'folder' ? 'a folder' : 'a device or pipe')
    if (links > 1) throw linkError(path, `one of ${links} names of the same file`)
    return fd
  } catch (error) {
    fs.close(fd)
    throw error
  }
}

/** The same for what is the user's alone: nobody else owns it or may write to it. */
export function openOwnFile(path: string, flags: number): number {
  const fd = openPlainFile(realFs, path, flags, 0o600)
  try {
    checkOwnFile(path, fstatSync(fd))
    return fd
  } catch (error) {
    realFs.close(fd)
    throw error
  }
}
