// Which repository this is: by its first commits, which every clone has, and no other repository.
import { HeimdallError } from '../../../errors.ts'
import { FLEET_ROOTS_MAX } from '../../../limits.ts'
import { ask, type Git } from '../../../spine/worktrees/git.ts'

const COMMIT = /^[0-9a-f]{40,64}$/

/** None where nobody can say: without git, before the first commit, and in a clone that was cut short. */
export async function firstCommits(at: Git): Promise<string[]> {
  return (await askLines(at, 'rev-list', '--max-parents=0', 'HEAD', '--')).slice(
    0,
    (await isCutShort(at)) ? 0 : FLEET_ROOTS_MAX,
  )
}

/** A clone has one of them, on whatever branch it is. Where nobody can say there is nothing to refuse. */
export async function refuseUnrelated(at: Git, roots: readonly string[]): Promise<void> {
  const known = roots.filter((root) => COMMIT.test(root))
  if (known.length === 0 || (await askLines(at, 'rev-parse', '--verify', '--quiet', 'HEAD')).length === 0) return
  if (await isCutShort(at)) return
  for (const root of known)
    if ((await askLines(at, 'rev-parse', '--verify', '--quiet', `${root}^{commit}`)).length > 0) return
  throw new HeimdallError('FLEET_UNRELATED', 'this is no clone of the repository that the fleet was made from', {
    hint: `it has no commit ${known.map((root) => root.slice(0, 12)).join(', ')}: join in a clone, or say --unrelated`,
  })
}

const isCutShort = async (at: Git): Promise<boolean> =>
  (await askLines(at, 'rev-parse', '--is-shallow-repository'))[0] !== 'false'

async function askLines(at: Git, ...args: readonly string[]): Promise<string[]> {
  try {
    return (await ask(at, args)).split('\n').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'GIT_FAILED') return []
    throw error
  }
}
