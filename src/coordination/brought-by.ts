// Which commit brought a file, or a line of it, into this repository: what is known of whoever reports something.
import { execFileSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { BLAME_BYTES_MAX, BLAME_MS_MAX, BLAME_RANGES_MAX } from '../limits.ts'
import type { Project } from '../paths.ts'

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

/** The last commit that changed the file; for one that is in no commit git would walk all of its history first. */
export function fileBringer(project: Project, path: string): Bringer {
  if (ask(project, path, ['ls-files']) === '') return { commit: null, author: null }
  const [commit = '', author = null] = ask(project, path, ['log', '-1', '--format=%H%n%an <%ae>']).trim().split('\n')
  return commit === '' ? { commit: null, author: null } : { commit, author }
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
