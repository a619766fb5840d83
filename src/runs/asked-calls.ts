// What a human reads of calls whose question has it cut: one file for each question, in the folder of its run.
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../storage/atomic-file.ts'

const fileOf = (folder: string, id: string): string => join(folder, 'asked', `${id}.txt`)

export function writeAskedCall(folder: string, id: string, text: string): void {
  mkdirSync(join(folder, 'asked'), { mode: 0o700, recursive: true })
  replaceFile(fileOf(folder, id), text)
}

/** Undefined where the question has all of it. */
export function readAskedCall(folder: string, id: string): string | undefined {
  const path = fileOf(folder, id)
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : undefined
}
