// What clients have done to a session, as its records have it. Pure.

export interface SessionAct {
  readonly at: string
  readonly act: 'kill' | 'rename' | 'secrets' | `${'input' | 'kill' | 'rename' | 'secrets'} refused`
  /** The command and who gave it, as processes show it; `an unidentified client` where that is not known. */
  readonly by: string
  /** What it was about, in words; empty where the act says it. */
  readonly what: string
}
