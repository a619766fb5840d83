// Which commit brought a file, or a line of it, into this repository: what is known of whoever reports something.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { BLAME_BYTES_MAX, BLAME_MS_MAX, BLAME_RANGES_MAX, BRINGER_DAYS_MAX } from '../../limits.ts'
import type { Project } from '../../paths.ts'

export interface Bringer {
  /** Null for what is in no commit. */
  readonly commit: string | null
  readonly author: string | null
}

/** By number of the line. Lines that are in no commit are left out, and so are all where git has no answer. */
export function lineBringers(project: Project, path: string, lines: readonly number[]): Map<number, Bringer> {
  if (lines.length === 0) return new Map()
  const ranges = rangesOf(lines)
  const asked = ranges.length <= BLAME_RANGES_MAX ? ranges : [[lines[0] ?? 1, lines.at(-1) ?? 1] as const]
  const output = ask(project, path, ['blame', '--porcelain', ...asked.flatMap(([from, to]) => ['-L', `${from},${to}`])])
  const found = new Map<number, Bringer>()
  const authors = new Map<string, string>()
  let commit = ''
  let line = 0
  for (const text of output.split('\n')) {
    const head = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(text)
    if (head !== null) [commit, line] = [head[1] ?? '', Number(head[2])]
    else if (text.startsWith('author ')) authors.set(commit, text.slice('author '.length))
    else if (text.startsWith('author-mail ')) authors.set(commit, `${authors.get(commit)} ${text.slice(12)}`)
    else if (text.startsWith('\t') && !/^0+$/.test(commit))
      found.set(line, { commit, author: authors.get(commit) ?? null })
  }
  return found
}

/** Finds the commit that brought exactly these bytes under this name. */
export type FindBringer = (name: string, bytes: Uint8Array) => Bringer | undefined

/**
 * For all files of a folder with one question: recent commits that changed any of them, with what each made of it.
 * The working tree is not asked, because whoever can write a file can put it into the index as well.
 */
export function fileBringers(project: Project, folder: string): FindBringer {
  const output = ask(project, folder, [
    'log',
    `--since=${BRINGER_DAYS_MAX}.days`,
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--format=%x00%H%x00%an <%ae>',
  ])
  const found = new Map<string, Bringer>()
  let bringer: Bringer | undefined
  let algorithm = 'sha1'
  for (const line of output.split('\n')) {
    const [, commit, author] = line.startsWith('\0') ? line.split('\0') : []
    if (commit !== undefined && author !== undefined) bringer = { commit, author }
    const [, blob, path] = /^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\t(.*)$/.exec(line) ?? []
    if (blob === undefined || path === undefined || bringer === undefined) continue
    if (blob.length === 64) algorithm = 'sha256'
    const key = `${blob} ${basename(path)}`
    if (!found.has(key)) found.set(key, bringer)
  }
  return (name, bytes) => {
    const id = createHash(algorithm).update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex')
    return found.get(`${id} ${name}`)
  }
}

function ask(project: Project, path: string, words: readonly string[]): string {
  if (project.gitCommonDir === undefined) return ''
  try {
    return execFileSync('git', ['--no-optional-locks', '-C', dirname(path), ...words, '--', basename(path)], {
      encoding: 'utf8',
      maxBuffer: BLAME_BYTES_MAX,
      timeout: BLAME_MS_MAX,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    // Not in git, ignored by it, or too much to ask: then nobody is known to have brought it.
    if (error instanceof Error && ('status' in error || 'code' in error)) return ''
    throw error
  }
}

function rangesOf(lines: readonly number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last !== undefined && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges
}
