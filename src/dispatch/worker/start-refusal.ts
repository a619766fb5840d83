// What keeps a run from starting and is no fault of the task.
import { HeimdallError } from '../../errors.ts'
import { blockedBy } from '../blocked.ts'
import type { Refusal } from './admission.ts'

export function refusalFor(error: unknown): Refusal | undefined {
  if (!(error instanceof HeimdallError)) return undefined
  if (error.code === 'RESERVATION_CONFLICT') return { blocked: blockedBy('lease_held'), reason: error.message }
  if (error.code === 'STORE_BUSY' || error.code === 'WORKTREE_HALF_MADE')
    return { blocked: blockedBy('repo_locked'), reason: error.message }
  // Another machine may have fetched it.
  if (error.code === 'WORKTREE_NO_BASE') return { blocked: blockedBy('commit_missing'), reason: error.message }
  return undefined
}
