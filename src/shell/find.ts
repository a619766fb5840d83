// What `find` does with what it finds: programs that it runs, files that it writes, and whether it removes.
import type { Word } from './word.ts'

export interface FindWords {
  /** Folders that it goes through. */
  readonly roots: readonly Word[]
  /** Programs with their words; what it puts in for `{}` is not known. */
  readonly runs: readonly (readonly Word[])[]
  readonly files: readonly Word[]
  readonly removes: boolean
}

const RUNS = /^-(?:exec|execdir|ok|okdir)$/
const WRITES = /^-(?:fprint0?|fls|fprintf)$/

export function findWords(args: readonly Word[]): FindWords {
  // Options of its own before the folders: `-H`, `-L`, `-P`, `-O3`, `-D tree`.
  const from = args.findIndex(({ text }) => text === null || !/^-[HLPOD]/.test(text))
  const words = from === -1 ? [] : args.slice(from)
  const end = words.findIndex(({ text }) => text !== null && /^[-(!]/.test(text))
  const roots = end === -1 ? words : words.slice(0, end)
  const runs: Word[][] = []
  const files: Word[] = []
  for (const [at, { text }] of words.entries()) {
    if (text !== null && WRITES.test(text)) files.push(...words.slice(at + 1, at + 2))
    if (text === null || !RUNS.test(text)) continue
    const rest = words.slice(at + 1)
    const last = rest.findIndex((word) => word.text === ';' || word.text === '+')
    runs.push(rest.slice(0, last === -1 ? undefined : last).map(filledIn))
  }
  const removes =
    words.some(({ text }) => text === '-delete') ||
    runs.some(([program]) => /^(?:.*\/)?(?:rm|mv|unlink|shred|truncate|chmod)$/.test(program?.text ?? ''))
  return { roots: roots.length === 0 ? [{ text: '.', isPattern: false }] : roots, runs, files, removes }
}

const filledIn = (word: Word): Word => (word.text?.includes('{}') === true ? { text: null, isPattern: false } : word)
