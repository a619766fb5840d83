// Identifies a repository by its root commits, which every clone has and no other repository does.
import { HeimdallError } from '../../errors.ts'
import { FLEET_ROOTS_MAX } from '../../limits.ts'
import { ask, type Git } from './git.ts'

const COMMIT = /^[0-9a-f]{40,64}$/

/** Empty without git, before the first commit, and in a shallow clone. */
export async function firstCommits(at: Git): Promise<string[]> {
  return (await askLines(at, 'rev-list', '--max-parents=0', 'HEAD', '--')).slice(
    0,
    (await isShallow(at)) ? 0 : FLEET_ROOTS_MAX,
  )
}

/** A clone has one of `roots` on any branch. A repository whose root commits are unknown is accepted. */
export async function refuseUnrelated(at: Git, roots: readonly string[]): Promise<void> {
  const known = roots.filter((root) => COMMIT.test(root))
  if (known.length === 0 || (await askLines(at, 'rev-parse', '--verify', '--quiet', 'HEAD')).length === 0) return
  if (await isShallow(at)) return
  for (const root of known)
    if ((await askLines(at, 'rev-parse', '--verify', '--quiet', `${root}^{commit}`)).length > 0) return
  throw new HeimdallError('FLEET_UNRELATED', 'this repository is not a clone of the one the fleet was created from', {
    hint: `it has no commit ${known.map((root) => root.slice(0, 12)).join(', ')}: join in a clone, or pass --unrelated`,
  })
}

const isShallow = async (at: Git): Promise<boolean> =>
  (await askLines(at, 'rev-parse', '--is-shallow-repository'))[0] !== 'false'

async function askLines(at: Git, ...args: readonly string[]): Promise<string[]> {
  try {
    return (await ask(at, args)).split('\n').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'GIT_FAILED') return []
    throw error
  }
}
