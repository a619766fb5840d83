// Worktrees as git has them registered.
import { existsSync } from 'node:fs'
import { ask, type Git } from './git.ts'

export interface Registered {
  readonly path: string
  /** Where HEAD is; nothing in a checkout without commits. */
  readonly commit: string | undefined
  /** Short name; nothing when HEAD is detached. */
  readonly branch: string | undefined
  readonly isBare: boolean
  /** The reason may be empty. */
  readonly lockedFor: string | undefined
}

/** All of the repository, the main one first. */
export async function registeredWorktrees(at: Git): Promise<Registered[]> {
  const text = await ask(at, ['worktree', 'list', '--porcelain', '-z'])
  return text
    .split('\0\0')
    .map((block) => new Map(block.split('\0').map(splitLine)))
    .flatMap((lines) => {
      const path = lines.get('worktree')
      if (path === undefined) return []
      return [
        {
          path,
          commit: commitIn(lines.get('HEAD')),
          branch: lines.get('branch')?.replace(/^refs\/heads\//, ''),
          isBare: lines.has('bare'),
          lockedFor: lines.get('locked'),
        },
      ]
    })
}

/** Git prints zeros for a branch without commits. */
const commitIn = (id: string | undefined): string | undefined => (id === undefined || /^0+$/.test(id) ? undefined : id)

function splitLine(line: string): [string, string] {
  const at = line.indexOf(' ')
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
}

/** `ready`; `half made`: git was killed while it made it; `gone`: its folder was removed by hand; `absent`: git does not know it. */
export type Presence = 'ready' | 'half made' | 'gone' | 'absent'

export function presenceOf(found: Registered | undefined): Presence {
  if (found === undefined) return 'absent'
  // Git's own mark, which it takes away when the worktree is whole.
  if (found.lockedFor === 'initializing') return 'half made'
  return existsSync(found.path) ? 'ready' : 'gone'
}
