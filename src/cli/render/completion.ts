// Completion scripts from the table of commands: for each prefix of words, the words and flags that may follow.
import { inQuotes } from '../../quoted.ts'
import type { Command } from '../command.ts'
import { GLOBAL_FLAGS } from '../parse.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export function isShell(text: string): text is Shell {
  return (SHELLS as readonly string[]).includes(text)
}

/** `heimdall claim` → `check release …`, and `heimdall claim check` → its flags. */
export function nextWords(commands: readonly Command[]): Map<string, string[]> {
  const next = new Map<string, Set<string>>()
  const add = (prefix: string, word: string): void => {
    next.set(prefix, (next.get(prefix) ?? new Set()).add(word))
  }
  for (const { spec } of commands) {
    if (spec.hidden === true) continue
    for (const name of spec.names) {
      const words = name.split(' ')
      for (let i = 1; i < words.length; i += 1) add(words.slice(0, i).join(' '), words[i] ?? '')
      for (const [flag, { choices }] of Object.entries({ ...spec.flags, ...GLOBAL_FLAGS } as Record<
        string,
        { choices?: readonly string[] }
      >)) {
        add(name, `--${flag}`)
        for (const choice of choices ?? []) add(`${name} --${flag}`, choice)
      }
    }
  }
  return new Map([...next].map(([prefix, words]) => [prefix, [...words].sort()]))
}

export function completionScript(commands: readonly Command[], shell: Shell): string {
  const next = nextWords(commands)
  const bins = [...new Set([...next.keys()].map((prefix) => prefix.split(' ')[0] ?? ''))]
  switch (shell) {
    case 'bash':
      return bashScript(next, bins)
    case 'zsh':
      return `#compdef ${bins.join(' ')}\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(next, bins)}`
    case 'fish':
      return fishScript(next, bins)
  }
}

/** The deepest prefix of the typed words that the table knows decides; a flag with choices offers those first. */
function bashScript(next: ReadonlyMap<string, readonly string[]>, bins: readonly string[]): string {
  const cases = [...next].map(([prefix, words]) => `    ${inQuotes(prefix)}) words=${inQuotes(words.join(' '))} ;;`)
  return [
    '_heimdall_words() {',
    '  local words=""',
    '  case "$1" in',
    ...cases,
    '  esac',
    '  printf "%s" "$words"',
    '}',
    '_heimdall() {',
    '  local prefix="${COMP_WORDS[0]##*/}" known found last="${COMP_WORDS[COMP_CWORD-1]}" i',
    '  known="$prefix"',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    [ -n "$(_heimdall_words "$known ${COMP_WORDS[i]}")" ] && case "${COMP_WORDS[i]}" in -*) ;; *) known="$known ${COMP_WORDS[i]}" ;; esac',
    '  done',
    '  found=""',
    '  case "$last" in -*) found="$(_heimdall_words "$known $last")" ;; esac',
    '  [ -n "$found" ] || found="$(_heimdall_words "$known")"',
    '  COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    `complete -o default -F _heimdall ${bins.join(' ')}`,
  ].join('\n')
}

function fishScript(next: ReadonlyMap<string, readonly string[]>, bins: readonly string[]): string {
  const cases = [...next].map(
    ([prefix, words]) => `    case ${inQuotes(prefix)}\n      printf '%s\\n' ${words.map(inQuotes).join(' ')}`,
  )
  return [
    'function __heimdall_words',
    '  switch "$argv"',
    ...cases,
    '  end',
    'end',
    'function __heimdall_complete',
    '  set -l tokens (commandline -opc)',
    '  set -l known (basename $tokens[1])',
    '  for token in $tokens[2..]',
    '    string match -q -- "-*" $token; and continue',
    '    test -n "$(__heimdall_words "$known $token")"; and set known "$known $token"',
    '  end',
    '  set -l found (__heimdall_words "$known $tokens[-1]")',
    '  test -n "$found"; and string match -q -- "-*" $tokens[-1]; or set found (__heimdall_words "$known")',
    "  printf '%s\\n' $found",
    'end',
    ...bins.map((bin) => `complete -c ${bin} -f -a '(__heimdall_complete)'`),
  ].join('\n')
}
