// A disk in memory behind the `Fs` seam that remembers every operation, so that a crash can be staged after any of them.
import { basename, dirname, normalize } from 'node:path'
import { type FileFacts, type Fs, O } from '../../src/storage/fs.ts'

export const ROOT = 1

/** What happened to the disk, in order. Places are inodes and names, so that any subset can be replayed in order. */
export type DiskOp =
  | { readonly type: 'write'; readonly inode: number; readonly at: number; readonly bytes: Uint8Array }
  /** The names of one folder change together: a rename is one step. `inode` undefined removes the name. */
  | { readonly type: 'names'; readonly folder: number; readonly changes: readonly NameChange[] }
  | { readonly type: 'sync'; readonly inode: number }
  /** The program under test said something to the outside, such as an acknowledgement. */
  | { readonly type: 'mark'; readonly label: string }

interface NameChange {
  readonly name: string
  readonly inode: number | undefined
  readonly isFolder?: true
}

/** What a disk holds: content by inode of files, names by inode of folders. */
export interface DiskImage {
  readonly files: ReadonlyMap<number, Uint8Array>
  readonly folders: ReadonlyMap<number, ReadonlyMap<string, number>>
}

export interface SimulatedDisk {
  readonly fs: Fs
  readonly ops: readonly DiskOp[]
  mark(label: string): void
  image(): DiskImage
  openFiles(): number
  /** All plain files by path; for looking, not for code under test. */
  tree(): Record<string, string>
}

export const emptyDisk: DiskImage = { files: new Map(), folders: new Map([[ROOT, new Map()]]) }

interface OpenFile {
  readonly inode: number
  readonly flags: number
}

export function simulateDisk(start: DiskImage = emptyDisk): SimulatedDisk {
  const files = new Map<number, Uint8Array>([...start.files].map(([inode, bytes]) => [inode, Uint8Array.from(bytes)]))
  const folders = new Map([...start.folders].map(([inode, names]) => [inode, new Map(names)]))
  const open = new Map<number, OpenFile>()
  const locks = new Map<string, number>()
  const ops: DiskOp[] = []
  let nextFd = 100
  let nextInode = Math.max(ROOT, ...files.keys(), ...folders.keys()) + 1

  const lookup = (path: string): number | undefined => {
    let inode: number | undefined = ROOT
    for (const name of normalize(path)
      .split('/')
      .filter((part) => part !== '')) {
      const names: ReadonlyMap<string, number> | undefined = folders.get(inode)
      if (names === undefined) throw systemError('ENOTDIR', path)
      inode = names.get(name)
      if (inode === undefined) return undefined
    }
    return inode
  }
  const folderOf = (path: string): { folder: number; names: Map<string, number>; name: string } => {
    const folder = lookup(dirname(path))
    if (folder === undefined) throw systemError('ENOENT', path)
    const names = folders.get(folder)
    if (names === undefined) throw systemError('ENOTDIR', path)
    return { folder, names, name: basename(path) }
  }
  const change = (folder: number, changes: readonly NameChange[]): void => {
    ops.push({ type: 'names', folder, changes })
    applyNames(folders, folder, changes)
  }
  const fileOf = (fd: number): OpenFile => {
    const file = open.get(fd)
    if (file === undefined) throw systemError('EBADF', String(fd))
    return file
  }
  const factsOf = (inode: number): FileFacts => ({
    size: files.get(inode)?.byteLength ?? 0,
    links: [...folders.values()].flatMap((names) => [...names.values()]).filter((named) => named === inode).length,
    kind: folders.has(inode) ? 'folder' : 'file',
    inode,
    device: 1,
  })
  const sync = (fd: number): void => void ops.push({ type: 'sync', inode: fileOf(fd).inode })

  const fs: Fs = {
    open(path, flags) {
      const { folder, names, name } = folderOf(path)
      let inode = path === '/' ? ROOT : names.get(name)
      if (inode !== undefined && flags & O.O_CREAT && flags & O.O_EXCL) throw systemError('EEXIST', path)
      if (inode === undefined) {
        if (!(flags & O.O_CREAT)) throw systemError('ENOENT', path)
        inode = nextInode
        nextInode += 1
        files.set(inode, new Uint8Array())
        change(folder, [{ name, inode }])
      }
      if (flags & O.O_DIRECTORY && !folders.has(inode)) throw systemError('ENOTDIR', path)
      if (flags & (O.O_WRONLY | O.O_RDWR) && folders.has(inode)) throw systemError('EISDIR', path)
      const fd = nextFd
      nextFd += 1
      open.set(fd, { inode, flags })
      return fd
    },
    close(fd) {
      fileOf(fd)
      open.delete(fd)
      for (const [place, holder] of locks) if (holder === fd) locks.delete(place)
    },
    write(fd, bytes) {
      const { inode, flags } = fileOf(fd)
      if (!(flags & (O.O_WRONLY | O.O_RDWR))) throw systemError('EBADF', String(fd))
      // Code of ours writes at the end only: appending, or filling a file that it has just made.
      const at = files.get(inode)?.byteLength ?? 0
      const copy = Uint8Array.from(bytes)
      ops.push({ type: 'write', inode, at, bytes: copy })
      applyWrite(files, inode, at, copy)
      return bytes.byteLength
    },
    read(fd, into, position) {
      const { inode } = fileOf(fd)
      if (folders.has(inode)) throw systemError('EISDIR', String(fd))
      const part = (files.get(inode) ?? new Uint8Array()).subarray(position, position + into.byteLength)
      into.set(part)
      return part.byteLength
    },
    stat: (fd) => factsOf(fileOf(fd).inode),
    lstat(path) {
      const inode = lookup(path)
      return inode === undefined ? undefined : factsOf(inode)
    },
    sync,
    async syncLater(fd) {
      await Promise.resolve()
      sync(fd)
    },
    async syncDataLater(fd) {
      await Promise.resolve()
      sync(fd)
    },
    tryLock(fd, place) {
      const key = `${fileOf(fd).inode}/${place}`
      const holder = locks.get(key)
      if (holder !== undefined && holder !== fd) return false
      locks.set(key, fd)
      return true
    },
    unlock(fd, place) {
      const key = `${fileOf(fd).inode}/${place}`
      if (locks.get(key) === fd) locks.delete(key)
    },
    rename(from, to) {
      const source = folderOf(from)
      const target = folderOf(to)
      const inode = source.names.get(source.name)
      if (inode === undefined) throw systemError('ENOENT', from)
      if (source.folder !== target.folder) throw systemError('EXDEV', to)
      const replaced = target.names.get(target.name)
      if (replaced === inode) return
      if (replaced !== undefined && folders.has(replaced) !== folders.has(inode))
        throw systemError(folders.has(replaced) ? 'EISDIR' : 'ENOTDIR', to)
      const changes = [
        { name: source.name, inode: undefined },
        { name: target.name, inode },
      ]
      change(source.folder, changes)
    },
    unlink(path) {
      const { folder, names, name } = folderOf(path)
      const inode = names.get(name)
      if (inode === undefined) throw systemError('ENOENT', path)
      if (folders.has(inode)) throw systemError('EISDIR', path)
      change(folder, [{ name, inode: undefined }])
    },
    mkdir(path) {
      const { folder, names, name } = folderOf(path)
      if (names.has(name)) throw systemError('EEXIST', path)
      const inode = nextInode
      nextInode += 1
      change(folder, [{ name, inode, isFolder: true }])
    },
  }

  return {
    fs,
    ops,
    mark: (label) => void ops.push({ type: 'mark', label }),
    image: () => ({
      files: new Map([...files].map(([inode, bytes]) => [inode, Uint8Array.from(bytes)])),
      folders: new Map([...folders].map(([inode, names]) => [inode, new Map(names)])),
    }),
    openFiles: () => open.size,
    tree: () => treeOf({ files, folders }),
  }
}

/** The plain files of an image by path. */
export function treeOf({ files, folders }: DiskImage, folder = ROOT, prefix = '/'): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, inode] of [...(folders.get(folder) ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (folders.has(inode)) Object.assign(found, treeOf({ files, folders }, inode, `${prefix}${name}/`))
    else found[prefix + name] = Buffer.from(files.get(inode) ?? []).toString('latin1')
  return found
}

export function applyWrite(files: Map<number, Uint8Array>, inode: number, at: number, bytes: Uint8Array): void {
  const before = files.get(inode) ?? new Uint8Array()
  // A write whose predecessors did not reach the disk leaves a hole, which reads as zeros.
  const after = new Uint8Array(Math.max(before.byteLength, at + bytes.byteLength))
  after.set(before)
  after.set(bytes, at)
  files.set(inode, after)
}

export function applyNames(
  folders: Map<number, Map<string, number>>,
  folder: number,
  changes: readonly NameChange[],
): void {
  const names = folders.get(folder) ?? new Map<string, number>()
  for (const { name, inode, isFolder } of changes)
    if (inode === undefined) names.delete(name)
    else {
      names.set(name, inode)
      if (isFolder === true && !folders.has(inode)) folders.set(inode, new Map())
    }
  folders.set(folder, names)
}

export function systemError(code: string, what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, ${what}`), { code })
}
