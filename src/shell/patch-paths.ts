// The files that a patch changes: of the form that Codex applies, and of diffs as git writes them.

const STEP = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/
const DIFF = /^(?:---|\+\+\+) (?:"((?:[^"\\]|\\.)*)"|([^\t\n]+))/

/** How much of a name in a diff is no folder: so many parts, or all but the last. Nothing: `a/` and `b/`, where they stand. */
export type Strip = number | 'folders' | undefined

/** Every file, each once, as written. */
export function patchPaths(patch: string, strip?: Strip): string[] {
  const lines = patch.split(/\r?\n/)
  const found = lines.some((line) => line.startsWith('*** Begin Patch'))
    ? lines.flatMap((line) => {
        const [, changed, moved] = STEP.exec(line.trimEnd()) ?? []
        return changed ?? moved ?? []
      })
    : lines.flatMap((line) => diffPath(line, strip))
  return [...new Set(found)]
}

/** As git writes it, with names from the top of the repository on. */
export const isGitDiff = (patch: string): boolean => /^diff --git /m.test(patch)

function diffPath(line: string, strip: Strip): string[] {
  const [, quoted, plain] = DIFF.exec(line) ?? []
  const path = (quoted?.replace(/\\(["\\])/g, '$1') ?? plain)?.trim()
  if (path === undefined || path === '/dev/null') return []
  return [stripped(path, strip)].filter((name) => name !== '')
}

function stripped(path: string, strip: Strip): string {
  if (strip === undefined) return path.replace(/^[ab]\//, '')
  const parts = path.split(/\/+/)
  return strip === 'folders' ? (parts.at(-1) ?? '') : parts.slice(strip).join('/')
}
