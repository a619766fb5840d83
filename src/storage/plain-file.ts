// Opening state files so that nothing planted at their path leads elsewhere: no symbolic link, no second name, no pipe.
import { linkError } from './faults.ts'
import { type Fs, O } from './fs.ts'

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
