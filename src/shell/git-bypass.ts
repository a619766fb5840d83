// Ways past the hooks of git: options that skip them, and configuration that puts others in their place, in every form that git takes it in.
import { hasOption, type OptionRules, optionsOf, optionText, type SortedWords, sortWords, valuesOf } from './options.ts'
import type { Word } from './word.ts'

export const COMMIT: OptionRules = {
  short: 'CcFmt',
  attached: 'uS',
  long: [
    'message',
    'file',
    'template',
    'author',
    'date',
    'reuse-message',
    'reedit-message',
    'fixup',
    'squash',
    'trailer',
    'cleanup',
  ],
}

/** Commands that run hooks of the guard, and which of their options skip them. */
const HOOKED: Readonly<Record<string, { readonly rules: OptionRules; readonly skips: readonly string[] }>> = {
  commit: { rules: COMMIT, skips: ['no-verify', 'n'] },
  push: { rules: { short: 'o', long: ['push-option', 'repo', 'receive-pack', 'exec'] }, skips: ['no-verify'] },
  merge: {
    rules: { short: 'mFXs', attached: 'S', long: ['message', 'file', 'strategy', 'strategy-option', 'cleanup'] },
    skips: ['no-verify'],
  },
  pull: { rules: { short: 'Xs', attached: 'S', long: ['strategy', 'strategy-option'] }, skips: ['no-verify'] },
  rebase: { rules: { short: 'xXsC', attached: 'S', long: ['exec', 'onto', 'strategy'] }, skips: ['no-verify'] },
  am: { rules: { short: 'pC', attached: 'S' }, skips: ['no-verify', 'n'] },
  'cherry-pick': { rules: { short: 'mXs', attached: 'S' }, skips: ['no-verify'] },
  revert: { rules: { short: 'mXs', attached: 'S' }, skips: ['no-verify'] },
}

/** What decides which hooks run: where they are, and files that may say so. */
const isGuardedKey = (key: string): boolean => /^(?:core\.hookspath|include(?:if\..*)?\.path)$/i.test(key)
const GUARDED_SECTION = /^(?:core|include|includeif\..*)$/i

export interface GitCall {
  readonly verb: string
  /** Options of git itself. */
  readonly own: SortedWords
  /** What is behind the command. */
  readonly rest: readonly Word[]
  /** Variables that it is given: `NAME=value`. */
  readonly given: readonly Word[]
}

/** In words that name it. */
export function gitBypass(call: GitCall): string | null {
  return skipped(call) ?? configured(call) ?? (call.verb === 'config' ? changedKey(call.rest) : null) ?? swayed(call)
}

function skipped({ verb, rest }: GitCall): string | null {
  const hooked = Object.hasOwn(HOOKED, verb) ? HOOKED[verb] : undefined
  if (hooked === undefined) return null
  const [option] = optionsOf(sortWords(rest, hooked.rules), ...hooked.skips)
  return option === undefined ? null : `git ${verb} ${optionText(option)}`
}

/** `-c key=value`, `--config-env key=VARIABLE`. */
function configured({ own }: GitCall): string | null {
  for (const [option, flag] of [
    ['c', '-c'],
    ['config-env', '--config-env'],
  ] as const)
    for (const { text, head } of valuesOf(own, option)) {
      const key = (text ?? head ?? '').split('=')[0] ?? ''
      if (isGuardedKey(key)) return `git ${flag} ${key}`
    }
  return null
}

const CONFIG: OptionRules = {
  short: 'ft',
  long: ['file', 'blob', 'type', 'default', 'comment', 'value', 'url'],
}

/** `git config`, in its old words and in its new ones; reading is everybody's. */
function changedKey(rest: readonly Word[]): string | null {
  const sorted = sortWords(rest, CONFIG)
  if (hasOption(sorted, 'edit', 'e') || sorted.plain[0]?.text === 'edit') return 'git config --edit'
  const [first = '', ...others] = sorted.plain.map(({ text }) => text ?? '')
  const isNew = /^(?:set|unset|get|list|rename-section|remove-section)$/.test(first)
  if (isNew ? /^(?:get|list)$/.test(first) : sorted.options.some(({ name }) => /^(?:get|l$|list)/.test(name)))
    return null
  const [key = '', ...values] = isNew ? others : [first, ...others]
  const isSection = hasOption(sorted, 'rename-section', 'remove-section') || first.endsWith('-section')
  if (isSection) return GUARDED_SECTION.test(key) ? `git config of section ${key}` : null
  const isChange = isNew || values.length > 0 || hasOption(sorted, 'unset', 'unset-all')
  return isChange && isGuardedKey(key) ? `git config ${key}` : null
}

/** Variables by which git is configured, or by which the guard would look at other claims. */
function swayed({ verb, given }: GitCall): string | null {
  if (!Object.hasOwn(HOOKED, verb)) return null
  for (const word of given) {
    const [, name = '', value = ''] = /^(\w+)\+?=([^]*)$/.exec(word.text ?? word.script ?? '') ?? []
    const isSwayed =
      name === 'HEIMDALL_PLANNING_DIR' ||
      (/^GIT_CONFIG_KEY_\d+$/.test(name) && isGuardedKey(value)) ||
      (name === 'GIT_CONFIG_PARAMETERS' && /core\.hookspath|include(?:if\b[^']*)?\.path/i.test(value)) ||
      // Whoever wants no such file says so by this name; any other may hold anything.
      (/^GIT_CONFIG_(?:GLOBAL|SYSTEM)$/.test(name) && word.text !== null && value !== '/dev/null')
    if (isSwayed) return `${name}=… git ${verb}`
  }
  return null
}
