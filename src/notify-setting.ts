// The setting `[notify]`: how a person is told of a wait who looks at no terminal.
import { HeimdallError } from './errors.ts'
import { printable } from './ids.ts'

export interface NotifySetting {
  /** The desktop's own notification, where there is one. */
  readonly desktop: boolean
  /** A line for `sh -c`. */
  readonly command: string | null
  /** Address of a topic of ntfy. */
  readonly ntfy: string | null
  /** An address that gets JSON. */
  readonly webhook: string | null
  /** Whether what is asked goes along: it may be somebody's secret, and these ways lead elsewhere. */
  readonly content: boolean
}

export const DEFAULT_NOTIFY: NotifySetting = { desktop: true, command: null, ntfy: null, webhook: null, content: false }

/** Refuses by name whatever is not one of these. */
export function checkNotify(path: string, value: unknown): NotifySetting {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(path, `notify must be a table, got ${printable(JSON.stringify(value))}`)
  const given = Object.entries(value).map(([key, one]) => [key, checked(path, key, one)] as const)
  return { ...DEFAULT_NOTIFY, ...Object.fromEntries(given) }
}

function checked(path: string, key: string, given: unknown): string | boolean {
  const isAddress = key === 'ntfy' || key === 'webhook'
  if ((key === 'desktop' || key === 'content') && typeof given === 'boolean') return given
  if (key === 'command' && typeof given === 'string' && given.trim() !== '') return given
  if (isAddress && typeof given === 'string' && /^https?:\/\/[^\s/]/.test(given) && URL.canParse(given)) return given
  if (!Object.hasOwn(DEFAULT_NOTIFY, key))
    throw invalid(path, `unknown key ${printable(`notify.${key}`)}`, Object.keys(DEFAULT_NOTIFY).join(', '))
  const wanted = isAddress ? 'an http or https address' : key === 'command' ? 'a command line' : 'true or false'
  throw invalid(path, `notify.${key} must be ${wanted}, got ${printable(JSON.stringify(given))}`)
}

function invalid(path: string, problem: string, known?: string): HeimdallError {
  return new HeimdallError('CONFIG_INVALID', `${path}: ${problem}`, {
    hint: `[notify] has ${known ?? Object.keys(DEFAULT_NOTIFY).join(', ')}`,
  })
}
