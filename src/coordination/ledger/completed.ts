// `completed/{date}-{task}.md`: pages about finished work, as they are written when a task ends.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../errors.ts'
import { isId, parseId } from '../../ids.ts'
import type { Project } from '../../paths.ts'
import { readFileIfThere } from '../../storage/atomic-file.ts'
import { diskError } from '../../storage/faults.ts'
import { ledgerDir } from './ledger-files.ts'

/** Ids, oldest first. A README in the folder is about the folder. */
export function listCompleted(project: Project): string[] {
  const folder = join(ledgerDir(project), 'completed')
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md') && name !== 'README.md' && isId(name.slice(0, -3)))
      .map((name) => name.slice(0, -3))
      .sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw diskError(folder, error)
  }
}

export function readCompleted(project: Project, id: string): { path: string; text: string } | undefined {
  const path = join(ledgerDir(project), 'completed', `${parseId('capsule', id)}.md`)
  const bytes = readFileIfThere(path)
  return bytes === undefined ? undefined : { path, text: bytes.toString('utf8') }
}
