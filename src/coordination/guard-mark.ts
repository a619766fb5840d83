// How the guard knows its own scripts among the hooks of a repository.

export const GUARD_HOOKS = ['pre-commit', 'pre-push', 'prepare-commit-msg', 'post-commit'] as const

/** A line of each. */
export const GUARD_MARK = '# heimdall guard: made by `heimdall guard install`, removed by `heimdall guard uninstall`'
