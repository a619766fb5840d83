// The files that a patch changes: of the form that Codex applies, and of diffs as git writes them.

const STEP = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/
const DIFF = /^(?:---|\+\+\+) (?:"((?:[^"\\]|\\.)*)"|([^\t\n]+))/

/** Every file, each once, as written. */
export function patchPaths(patch: string): string[] {
  const lines = patch.split(/\r?\n/)
  const found = lines.some((line) => line.startsWith('*** Begin Patch'))
    ? lines.flatMap((line) => {
        const [, changed, moved] = STEP.exec(line.trimEnd()) ?? []
        return changed ?? moved ?? []
      })
    : lines.flatMap(diffPath)
  return [...new Set(found)]
}

/** Names in a diff begin with `a/` and `b/`, which are no folders. */
function diffPath(line: string): string[] {
  const [, quoted, plain] = DIFF.exec(line) ?? []
  const path = (quoted?.replace(/\\(["\\])/g, '$1') ?? plain)?.trim()
  if (path === undefined || path === '/dev/null') return []
  return [path.replace(/^[ab]\//, '')]
}
