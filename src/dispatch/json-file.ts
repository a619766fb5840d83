// Files of our own, for the user alone: written whole, and read if they are there.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { readFileIfThere, replaceFile } from '../storage/atomic-file.ts'
import { onDisk } from '../storage/faults.ts'

export function writePrivate(path: string, text: string): void {
  onDisk(path, () => mkdirSync(dirname(path), { recursive: true, mode: 0o700 }))
  replaceFile(path, text, { mode: 0o600 })
}

export function readJsonIfThere(path: string): unknown {
  const bytes = readFileIfThere(path)
  return bytes === undefined ? undefined : JSON.parse(bytes.toString('utf8'))
}
