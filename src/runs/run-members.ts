// Who takes part in a run: one file per process, locked while it lives, so that the kernel knows who is gone.
import fs from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../errors.ts'
import { checkOwnFolder } from '../own-folder.ts'
import { ensureFolder, removeIfThere } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'
import { namesInIfFolder } from '../storage/folder-names.ts'
import { tryLock } from '../storage/kernel-lock.ts'
import { openOwnFile } from '../storage/plain-file.ts'

export interface RunMembership {
  leave(): void
}

const membersDir = (runDir: string): string => join(runDir, 'members')

/** `id` is that of the producer, which no other process has. */
export function joinMembers(runDir: string, id: string): RunMembership {
  const dir = membersDir(runDir)
  const path = join(dir, id)
  ensureFolder(dir)
  checkOwnFolder(dir)
  const { O_RDWR, O_APPEND, O_CREAT } = fs.constants
  const fd = onDisk(path, () => openOwnFile(path, O_RDWR | O_APPEND | O_CREAT))
  tryLock(fd)
  return {
    leave() {
      removeIfThere(path)
      fs.closeSync(fd)
    },
  }
}

export interface RunMembers {
  readonly alive: readonly string[]
  readonly dead: readonly string[]
}

/** Must be called while the record is locked: members join and leave under the same lock. */
export function lookAtMembers(runDir: string): RunMembers {
  const alive: string[] = []
  const dead: string[] = []
  for (const id of memberNames(runDir)) (isHeld(join(membersDir(runDir), id)) ? alive : dead).push(id)
  return { alive, dead }
}

/** After the end of the run nobody needs to know who was there. */
export function forgetMembers(runDir: string): void {
  for (const id of memberNames(runDir)) removeIfThere(join(membersDir(runDir), id))
}

const memberNames = (runDir: string): readonly string[] => namesInIfFolder(checkOwnFolder(membersDir(runDir)))

function isHeld(path: string): boolean {
  let fd: number
  try {
    fd = fs.openSync(path, 'r+')
  } catch (error) {
    // Whoever could not get the record's lock in time leaves without it.
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
  try {
    return !tryLock(fd)
  } finally {
    fs.closeSync(fd)
  }
}
