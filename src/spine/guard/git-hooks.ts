// The guard's hooks in a repository: small shell scripts that run the hook that was there before, then the guard.
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { HeimdallError } from '../../errors.ts'
import { contains } from '../../paths.ts'
import { HOST_MARKS } from '../../person.ts'
import { inQuotes } from '../../quoted.ts'
import { ensureFolder, replaceFile } from '../../storage/atomic-file.ts'
import { onDisk } from '../../storage/faults.ts'
import { readIfThere } from '../../storage/unsynced-file.ts'
import { GUARD_HOOKS, GUARD_MARK } from '../../coordination/guard-mark.ts'
import { AGENT_VARIABLES } from '../../coordination/who/variables.ts'
import { type HookGit, git } from './git.ts'

export type Hook = (typeof GUARD_HOOKS)[number]

export interface InstalledHook {
  readonly hook: Hook
  readonly path: string
  /** Where the hook that was there before was set aside. */
  readonly chained: string | null
}

/** The folder that git runs hooks from, for all worktrees of the repository. */
export function hooksFolder(at: HookGit): string {
  let top: string
  try {
    top = git(at, ['rev-parse', '--show-toplevel']).trim()
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'GIT_FAILED') throw error
    throw new HeimdallError('GUARD_NO_REPOSITORY', `no git repository with a working tree at ${at.cwd}`, {
      hint: 'run it inside the repository that agents commit to',
      cause: error,
    })
  }
  const folder = resolve(at.cwd, git(at, ['rev-parse', '--git-path', 'hooks']).trim())
  const common = resolve(at.cwd, git(at, ['rev-parse', '--git-common-dir']).trim())
  // A folder outside the repository serves other repositories too: whatever we put there would guard all of them.
  if (!contains(top, folder) && !contains(common, folder))
    throw new HeimdallError('GUARD_HOOKS_ELSEWHERE', `git takes its hooks from ${folder}, outside this repository`, {
      hint: `git config --local core.hooksPath ${relative(top, join(common, 'hooks'))} gives this repository hooks of its own`,
    })
  return folder
}

/** All four or none: half a guard would look like a whole one. */
export function installHooks(at: HookGit, command: readonly string[]): InstalledHook[] {
  const folder = hooksFolder(at)
  const places = GUARD_HOOKS.map((hook) => {
    const path = join(folder, hook)
    const known = readIfThere(path)
    return { hook, path, known, isForeign: known !== undefined && !known.includes(GUARD_MARK) }
  })
  for (const { path, isForeign } of places)
    if (isForeign && existsSync(asidePath(path)))
      throw new HeimdallError('GUARD_HOOK_FOREIGN', `${path} is not ours, and ${asidePath(path)} is there already`, {
        hint: `merge the two by hand, remove ${asidePath(path)}, and install again; nothing was installed`,
      })
  ensureFolder(folder)
  const undo: (() => void)[] = []
  try {
    return places.map(({ hook, path, known, isForeign }) => {
      const aside = asidePath(path)
      if (isForeign) {
        onDisk(path, () => renameSync(path, aside))
        undo.unshift(() => renameSync(aside, path))
      }
      replaceFile(path, script(hook, command, shellOf(readIfThere(aside))), { mode: 0o755 })
      undo.unshift(() => (known === undefined || isForeign ? rmSync(path, { force: true }) : writeHook(path, known)))
      makeExecutable(path)
      return { hook, path, chained: existsSync(aside) ? aside : null }
    })
  } catch (error) {
    for (const step of undo) step()
    throw error
  }
}

function writeHook(path: string, text: string): void {
  replaceFile(path, text, { mode: 0o755 })
  makeExecutable(path)
}

/** The mode of a new file is subject to the umask; git ignores hooks that are not executable. */
function makeExecutable(path: string): void {
  onDisk(path, () => chmodSync(path, 0o755))
}

/** How many of the hooks are ours, and a program that they start and that is gone. */
export function installedHooks(folder: string): { ours: number; all: number; lost: string | undefined } {
  const scripts = GUARD_HOOKS.flatMap((hook) => readIfThere(join(folder, hook)) ?? []).filter((text) =>
    text.includes(GUARD_MARK),
  )
  const started = scripts.flatMap((text) =>
    [...text.matchAll(/\[ -[xf] '(\/[^']+)' \]/g)].map((found) => found[1] ?? ''),
  )
  return { ours: scripts.length, all: GUARD_HOOKS.length, lost: started.find((path) => !existsSync(path)) }
}

/** All four are ours. */
export function isGuarded(folder: string): boolean {
  const { ours, all } = installedHooks(folder)
  return ours === all
}

export interface RemovedHook {
  readonly hook: Hook
  /** `foreign`: somebody replaced it since; it was left alone. */
  readonly outcome: 'removed' | 'restored' | 'absent' | 'foreign'
}

export function uninstallHooks(at: HookGit): RemovedHook[] {
  const folder = hooksFolder(at)
  return GUARD_HOOKS.map((hook) => {
    const path = join(folder, hook)
    const known = readIfThere(path)
    if (known === undefined) return { hook, outcome: 'absent' }
    if (!known.includes(GUARD_MARK)) return { hook, outcome: 'foreign' }
    if (!existsSync(asidePath(path))) {
      rmSync(path)
      return { hook, outcome: 'removed' }
    }
    renameSync(asidePath(path), path)
    return { hook, outcome: 'restored' }
  })
}

const asidePath = (path: string): string => `${path}.before-heimdall`

/**
 * The earlier hook runs first and decides first. A guard that cannot be started lets the commit through and says so:
 * coordination must not keep people from their own repository.
 */
function script(hook: Hook, command: readonly string[], shell: string | undefined): string {
  const [program = '', launcher = ''] = command
  const feed = hook === 'pre-push' ? 'printf %s "$input" | ' : ''
  const before = shell === undefined ? '"$before" "$@"' : `${shell} -c '. "$0.before-heimdall"' "$0" "$@"`
  return [
    '#!/bin/sh',
    GUARD_MARK,
    // The x keeps newlines at the end that the shell would strip.
    ...(hook === 'pre-push' ? ['input=$(cat; printf x)', 'input=${input%x}'] : []),
    `before="$(dirname "$0")/${hook}.before-heimdall"`,
    `if [ -x "$before" ]; then ${feed}${before} || exit $?; fi`,
    'guard() {',
    `  if [ -x ${inQuotes(program)} ] && [ -f ${inQuotes(launcher)} ]; then`,
    `    ${inQuotes(program)} ${inQuotes(launcher)} guard run ${hook} "$@"`,
    '  elif command -v heimdall >/dev/null 2>&1; then',
    `    heimdall guard run ${hook} "$@"`,
    '  else',
    `    echo "heimdall guard: heimdall is gone, ${hook} was not checked; heimdall guard install puts it right" >&2`,
    '  fi',
    '}',
    ...BODIES[hook],
    '',
  ].join('\n')
}

/**
 * The shell that an earlier hook names on its first line, or nothing for any other program. Husky's hooks find what
 * they are to run by their own name, which setting them aside has changed: read by their shell, they see the name of
 * the hook that git runs.
 */
function shellOf(text: string | undefined): string | undefined {
  const words = /^#! *(\/[\w./-]+(?: [\w-]+)*) *\r?\n/.exec(text ?? '')?.[1]
  return words !== undefined && /(?:^\S*\/|env )(?:ba|da|k|z)?sh(?: -[a-z]+)*$/.test(words) ? words : undefined
}

/**
 * Starting a program takes longer than most commits, so the check before a commit leaves a mark for the one after it:
 * which git process asked, about which tree, and when. If all three still hold, and nobody has written to the store or
 * the ledger's files since, the answer would be the same. `--no-verify` is another process and leaves no mark.
 */
const BODIES: Readonly<Record<Hook, readonly string[]>> = {
  'pre-commit': [
    // The mark comes first and goes again unless all is clear: what changes during the check is newer than it.
    'mark="$(git rev-parse --git-dir)/heimdall-clear"',
    'tree=$(git write-tree 2>/dev/null)',
    'printf "%s %s\\n" "$PPID" "$tree" 2>/dev/null >"$mark"',
    'said=$(guard "$@")',
    'code=$?',
    'case $said in',
    '  clear) ;;',
    // Told already: the check after the commit does not say it again in other words.
    '  warn) printf "%s %s warned\\n" "$PPID" "$tree" 2>/dev/null >"$mark" ;;',
    '  *) tree= ;;',
    'esac',
    'if [ -z "$tree" ]; then rm -f "$mark"; fi',
    'exit $code',
  ],
  'post-commit': [
    '{ read -r dir; read -r common; } <<END',
    '$(git rev-parse --git-dir --git-common-dir)',
    'END',
    'head=$(git log -g -1 --no-show-signature --format="%T %gs" HEAD)',
    'mark="$dir/heimdall-clear"',
    'store="$common/heimdall/coordination.db"',
    'older() { [ ! -e "$1" ] || [ "$mark" -nt "$1" ]; }',
    'checked=',
    'warned=',
    'if [ -f "$mark" ]; then read -r checked <"$mark"; fi',
    'if [ "$checked" = "$PPID ${head%% *} warned" ]; then warned=warned; fi',
    'if [ "$checked" = "$PPID ${head%% *}" ] && [ -z "$HEIMDALL_PLANNING_DIR" ] && older "$store" &&',
    '  { [ ! -s "$store-wal" ] || older "$store-wal"; } &&',
    '  older .planning/ledger/claims && older .planning/ledger/events.jsonl; then',
    '  rm -f "$mark"',
    '  exit 0',
    'fi',
    'rm -f "$mark"',
    // Git replays what exists already, one commit after the other.
    'case ${head#* } in rebase*) if [ -d "$dir/rebase-merge" ] || [ -d "$dir/rebase-apply" ]; then exit 0; fi ;; esac',
    'guard $warned "$@" >/dev/null',
  ],
  // Only an agent signs its commits; a person need not wait for a program to find that out.
  'prepare-commit-msg': [
    `[ -n "${[...AGENT_VARIABLES, ...HOST_MARKS].map((name) => `$${name}`).join('')}" ] || exit 0`,
    'guard "$@" >/dev/null',
  ],
  'pre-push': ['printf %s "$input" | guard "$@" >/dev/null'],
}

/** The launcher that runs now, as hooks should start it. */
export function ownCommand(execPath: string, launcher: string): string[] {
  return [execPath, resolve(dirname(launcher), 'heimdall')]
}
