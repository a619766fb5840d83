// A value that is made once and stays: a file that appears whole under its name, and of several makers the first one wins.
import { randomUUID } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isErrno } from '../errors.ts'
import { ensureFolder, readFileIfThere } from './atomic-file.ts'

/** What the file says, or `made`, which it says from then on. Its user alone can read it. */
export function madeOnce(path: string, made: string): string {
  const known = textOf(path)
  if (known !== undefined) return known
  ensureFolder(dirname(path))
  const temporary = `${path}.${process.pid}.${randomUUID()}`
  try {
    writeFileSync(temporary, `${made}\n`, { mode: 0o600, flag: 'wx' })
    linkSync(temporary, path)
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  } finally {
    // On a full disk it is there, and empty.
    rmSync(temporary, { force: true })
  }
  return textOf(path) ?? made
}

function textOf(path: string): string | undefined {
  const text = readFileIfThere(path)?.toString().trim()
  return text === '' ? undefined : text
}
