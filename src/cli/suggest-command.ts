// "Did you mean" for an unknown command: by edit distance, first within the same noun, and never a destructive one.
import { nearest } from '../suggest.ts'
import type { Command } from './command.ts'
import { renamed } from './renames.ts'

/** Last words of commands that end, delete or undo something: never suggested for a typo. */
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  'cancel',
  'clean',
  'end',
  'expel',
  'kill',
  'leave',
  'merge',
  'prune',
  'remove',
  'restore',
  'revoke',
  'takeover',
  'uninstall',
])

/** The nearest command for words that name none under `path`, which begins with the launcher. */
export function suggestCommand(
  commands: readonly Command[],
  path: readonly string[],
  typed: readonly string[],
): string | undefined {
  const [bin = ''] = path
  const all = commands.flatMap(({ spec }) => (spec.hidden === true ? [] : spec.names))
  // Habits from tmux, such as `hm kill-session`. For `heimdall` they are answered before this.
  const habit = bin === 'hm' ? renamed(typed.slice(0, 1), 0, [])?.replace(/^heimdall /, 'hm ') : undefined
  if (habit !== undefined && all.includes(habit)) return habit
  const names = all.filter((name) => name.startsWith(`${bin} `) && !DESTRUCTIVE.has(name.split(' ').at(-1) ?? ''))
  return nearestBelow(names, path.join(' '), typed)
}

/** Without the prefix, which would make all names similar. */
function nearestBelow(names: readonly string[], prefix: string, typed: readonly string[]): string | undefined {
  const below = names.filter((name) => name.startsWith(`${prefix} `)).map((name) => name.slice(prefix.length + 1))
  const [word = ''] = typed
  const begun = below.filter((name) => word !== '' && name.startsWith(word))
  // The beginning of one name only: `hm a`, `hm att`.
  const close = nearest(typed.join(' '), below) ?? nearest(word, below) ?? (begun.length === 1 ? begun[0] : undefined)
  return close === undefined ? undefined : `${prefix} ${close}`
}
